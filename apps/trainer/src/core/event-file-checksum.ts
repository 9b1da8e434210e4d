/** The polynomial of CRC-32C (Castagnoli), lowest bit first. */
const POLYNOMIAL = 0x82f63b78;
/** What TFRecord adds to a rotated checksum. */
const MASK_DELTA = 0xa282ead8;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ POLYNOMIAL : crc >>> 1;
  return crc;
});

/** CRC-32C of bytes, as iSCSI defines it (RFC 3720, appendix B.4). */
export function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ TABLE[(crc ^ byte) & 0xff]!;
  return (crc ^ 0xffffffff) >>> 0;
}

/**
 * The checksum of a TFRecord: a CRC-32C that is rotated and shifted, so that the checksum of bytes which hold a checksum is none of a
 * kind.
 *
 *   masked = rotate_right(crc, 15) + 0xa282ead8        modulo 2³²
 */
export function maskedCrc32c(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}
