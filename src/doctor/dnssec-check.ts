import type { DsRecord } from '../../mail/dns/ds-lookup.ts';
import type { Lookup } from '../../mail/dns/lookup.ts';
import { delegationText, type ZoneKey } from '../name-server/dnssec/zone-key.ts';
import { type HealthCheck, healthy, unhealthy } from './health-check.ts';

const RETRY = 'Run the doctor again in some minutes. If it stays unknown, check the resolver (MAILSTEAD_RESOLVERS).';

/** Checks the DS record that the zone above has for a zone that this server serves and signs. RFC 4035 5.2. */
export function checkDnssec(found: Lookup<DsRecord>, key: ZoneKey): HealthCheck {
  const { apex } = key;
  const name = `${apex}: dnssec`;
  const record = `"${apex}. DS ${delegationText(key.delegationSigner)}"`;
  switch (found.kind) {
    case 'trouble':
      return unhealthy(name, 'unknown', `The DS record of ${apex} cannot be looked up now.`, RETRY);
    case 'none': {
      const why = `This server signs ${apex}, but the zone above has no DS record: nobody validates it.`;
      return healthy(name, `${why} To have DNSSEC, publish ${record} there.`);
    }
    case 'found': {
      if (found.records.some((one) => key.hasDelegation(one)))
        return healthy(name, `The DS record of ${apex} is that of this server: its records are validated.`);
      const why = `The DS record of ${apex} is of another key than this server's: resolvers that validate answer nothing.`;
      return unhealthy(name, 'failed', why, `Replace it by ${record} at the registrar, or remove it there.`);
    }
  }
}
