import type { SecretBox } from '../../mail/store/blob/secrets.ts';
import { delegationText, deriveZoneKey, type ZoneKey } from '../name-server/dnssec/zone-key.ts';

/** Key of a zone that this server serves. */
export function zoneKeyOf(secrets: Pick<SecretBox, 'subkey'>, apex: string): ZoneKey {
  return deriveZoneKey(apex, (purpose) => secrets.subkey(purpose));
}

/** Data of the DS record that the zone above needs for DNSSEC, as a registrar wants it. */
export function dsTextOf(secrets: Pick<SecretBox, 'subkey'>, apex: string): string {
  return delegationText(zoneKeyOf(secrets, apex).delegationSigner);
}
