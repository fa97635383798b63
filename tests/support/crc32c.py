"""CRC-32C, the check sum of our frames, written again for tests that take or make them by hand."""


def of_byte(value):
    for _ in range(8):
        value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value


OF_BYTE = [of_byte(i) for i in range(256)]


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = OF_BYTE[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc ^ 0xffffffff
