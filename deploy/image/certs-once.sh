#!/bin/sh
# actorq-certs-once FOLDER: makes the certificates of a run in FOLDER/authority/run, once, and puts
# what each role needs into FOLDER/ROLE. These are volumes of their own, so that no container sees
# the key of another role, and none the authority's.
set -eu
folder=$1
made=$folder/authority/run

# A folder of this name is whole: what an interrupted start left has the other one.
if ! [ -e "$made" ]; then
    rm -rf "$made.new"
    actorq certs "$made.new"
    mv "$made.new" "$made"
fi
for role in learner replay actor evaluator operator; do
    cp -p "$made/$role/"* "$folder/$role/"
done
