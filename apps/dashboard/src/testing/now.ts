/** When the fixtures are looked at: the fixture server's start, ms. */
export const NOW = Date.now();
