/** What Node says of a certificate whose authority it does not know; not all of it keeps its code on the way through the client. */
const UNKNOWN_AUTHORITY =
  /self[- ]signed certificate|unable to (verify the first|get (local )?issuer) certificate|certificate signature failure/i;

/**
 * Why NATS cannot be used, and what to do where waiting does not help. Never holds a password.
 *
 * @param shown user that the server was shown, and CA file that its certificate was held against; `null` where there is none
 */
export function brokerProblem(
  error: unknown,
  { user, caFile }: { readonly user: string | null; readonly caFile: string | null },
): string {
  const chain = causesOf(error);
  const message = chain[0]?.message ?? String(error);
  if (chain.some(({ name, message }) => name === 'AuthorizationError' || /authorization violation/i.test(message))) {
    return user === null
      ? 'NATS asks for a user: set NATS_USER and NATS_PASSWORD'
      : `NATS refuses the user ${user} with this password: correct NATS_USER and NATS_PASSWORD, or the users of the server`;
  }
  if (UNKNOWN_AUTHORITY.test(message)) {
    return caFile === null
      ? `the certificate of NATS is signed by no authority that is known here (${message}): set NATS_CA_FILE to that authority's certificate`
      : `the certificate of NATS is not signed by the authority in NATS_CA_FILE, ${caFile} (${message})`;
  }
  if (/does not match certificate's altnames/.test(message))
    return `the certificate of NATS is for other names than the one in NATS_URL (${message})`;
  if (/does not support 'tls'/.test(message))
    return 'NATS has no TLS, and tls:// in NATS_URL or NATS_CA_FILE asks for it: switch it on in the server, or use nats:// without NATS_CA_FILE';
  return message;
}

/** The error and what caused it, outermost first. */
function causesOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let current = error; current instanceof Error && chain.length < 8; current = current.cause) chain.push(current);
  return chain;
}
