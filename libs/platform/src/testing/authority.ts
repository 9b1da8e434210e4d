import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** PEM files of an authority, and of a server that it signed for `localhost` and 127.0.0.1. */
export interface Authority {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

/** Makes an authority of its own with openssl, valid for a day. */
export function makeAuthority(folder: string, name: string): Authority {
  const file = (suffix: string): string => join(folder, `${name}-${suffix}`);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const [caKey, caFile, keyFile, request, certFile, names] = [
    file('ca.key'),
    file('ca.crt'),
    file('server.key'),
    file('server.csr'),
    file('server.crt'),
    file('names.txt'),
  ];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl('req', '-x509', ...key, '-keyout', caKey, '-out', caFile, '-days', '1', '-subj', `/CN=${name} authority`);
  openssl('req', ...key, '-keyout', keyFile, '-out', request, '-subj', '/CN=localhost');
  writeFileSync(names, 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
  const signedBy = ['-CA', caFile, '-CAkey', caKey, '-CAcreateserial', '-extfile', names];
  openssl('x509', '-req', '-in', request, ...signedBy, '-out', certFile, '-days', '1');
  return { caFile, certFile, keyFile };
}
