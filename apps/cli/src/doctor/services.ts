import { setTimeout as sleep } from 'node:timers/promises';
import { HindcastError, Overview } from '@hindcast/contracts';
import { GatewayRefusal, type Gateway } from '../gateway';
import { fault, warning, type Finding } from './core/finding';
import { missingServices, serviceFindings } from './core/service-findings';
import { Unreachable, call } from './http';

/** The gateway remembers what the services said for some seconds. */
const ASK_AGAIN_MS = 3_500;

export interface ServicesLook {
  readonly findings: readonly Finding[];
  /** The gateway's clock against this one's, ms. */
  readonly clockMs: number | null;
}

/** Which services answer, and whether each is ready, as the gateway sees them. */
export async function checkServices(gateway: Gateway): Promise<ServicesLook> {
  const { url, key } = gateway.place;
  try {
    const { clockMs } = await call({ key: key ?? undefined }, `${url}/healthz`, undefined, 5_000);
    return { findings: await survey(gateway), clockMs };
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    const mend =
      'Start everything with npx hindcast up, or the gateway with npm run service -- gateway; or name another by --gateway or HINDCAST_URL.';
    return { findings: [fault('gateway', `${url} does not answer (${error.message})`, mend)], clockMs: null };
  }
}

async function survey(gateway: Gateway): Promise<Finding[]> {
  const { url } = gateway.place;
  try {
    let overview = await gateway.get('/admin/v1/overview', Overview);
    // A busy process may take longer to answer than the gateway waits for it.
    for (let again = 0; again < 2 && missingServices(overview).length > 0; again++) {
      await sleep(ASK_AGAIN_MS);
      overview = await gateway.get('/admin/v1/overview', Overview);
    }
    return serviceFindings(url, overview);
  } catch (error) {
    if (!(error instanceof GatewayRefusal)) {
      if (!(error instanceof HindcastError)) throw error;
      return [fault('gateway', error.message, 'Update gateway or command line, so that both are of one version.')];
    }
    if (error.status === 401 || error.status === 403)
      return [
        warning(
          'services',
          'the gateway shows them to administrators only',
          'Put an admin key into HINDCAST_API_KEY, or name its file by --key-file.',
        ),
      ];
    if (error.status === 404)
      return [
        warning(
          'gateway',
          `${url} is of a version without administrators’ routes`,
          'Update it to the version of this checkout.',
        ),
      ];
    return [fault('gateway', `${url}: ${error.message}`, 'See its log; /readyz says what it waits for.')];
  }
}
