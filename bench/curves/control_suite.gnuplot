# Ten tasks, int8 beside fp32, from the curves of bench/control_suite.py:
#
#     gnuplot bench/curves/control_suite.gnuplot && sed -i 's/\t/ /g; s/ *$//; /^$/d' docs/figures/control-suite.svg
#
# A line is a run; three seeds each.
set terminal svg size 1000,430 dynamic font 'DejaVu Sans,11' background '#ffffff'
set output 'docs/figures/control-suite.svg'
set datafile separator ','
tasks = 'cartpole_balance cartpole_swingup ball_in_cup_catch reacher_easy finger_spin walker_stand walker_walk cheetah_run hopper_stand pendulum_swingup'
file(task) = 'bench/curves/dmc-'.task.'.csv'
of(format, seed) = strcol(1) eq format && column(2) == seed ? column(3) / 1000 : NaN
set style line 1 linecolor rgb '#2466c9' linewidth 1.2
set style line 2 linecolor rgb '#d1590b' linewidth 1.2
set yrange [0:1000]
set xrange [0:500]
set xtics 250 nomirror
set ytics 500 nomirror
set border 3
unset key
set label 1 '{/:Bold int8}' at screen 0.05,0.955 textcolor rgb '#2466c9'
set label 2 '{/:Bold fp32}' at screen 0.09,0.955 textcolor rgb '#d1590b'
set label 3 'return of greedy episodes over thousands of environment steps; D4PG, three runs each' \
    at screen 0.14,0.955
set multiplot layout 2,5 margins 0.05,0.99,0.10,0.84 spacing 0.035,0.16
do for [i = 1:words(tasks)] {
    task = word(tasks, i)
    set title task noenhanced offset 0,-0.6
    plot for [seed = 1:3] file(task) using (of('fp32', seed)):4 with lines linestyle 2, \
         for [seed = 1:3] file(task) using (of('int8', seed)):4 with lines linestyle 1
    unset label
}
unset multiplot
