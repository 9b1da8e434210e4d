const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf] as const;

/** Bytes of the byte-order mark that a text in UTF-8 begins with: 3, or 0 where there is none. It belongs to no text. */
export const markLength = (bytes: Uint8Array): number =>
  bytes[0] === BYTE_ORDER_MARK[0] && bytes[1] === BYTE_ORDER_MARK[1] && bytes[2] === BYTE_ORDER_MARK[2] ? 3 : 0;
