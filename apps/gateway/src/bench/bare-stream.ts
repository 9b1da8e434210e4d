/** Where the bare proxy stores answers. */
export const BARE_STREAM = 'BARE';
