import { parseAddress } from '../../message/address.ts';
import { canaryAddresses, canaryOf } from '../../store/canary.ts';
import type { SecretKind, ShownKind } from '../../store/shown-secret.ts';
import type { MailStore } from '../../store/store.ts';
import { lookupKeys } from '../route.ts';
import type { AgentSending, EgressWatch } from './types.ts';

interface Mail {
  tenant: number;
  recipients: readonly string[];
  door: string;
}

/**
 * What the gate is told of an agent's mail in which these kinds of secrets were found. Where a canary is among them, or it
 * goes to the address of one, its agent is stopped before anybody is answered, and the mail is refused as that of anybody
 * who is frozen: nothing says why.
 */
export async function withoutCanaries<T extends Omit<AgentSending, 'secrets'>>(
  store: MailStore,
  watch: EgressWatch,
  { agent, found }: { agent: T; found: readonly SecretKind[] },
  mail: Mail,
): Promise<T & { secrets: readonly string[] }> {
  const { secrets, stopped } = await namedSecrets(store, watch, found, mail);
  return { ...agent, ...(stopped && { mode: 'frozen' }), secrets };
}

/** The same of anything that leaves: what may be named of what was found, and whether its agent was stopped over it. */
export async function namedSecrets(
  store: Pick<MailStore, 'read'>,
  { tripped }: Pick<EgressWatch, 'tripped'>,
  found: readonly SecretKind[],
  { tenant, recipients, door }: Mail,
): Promise<{ secrets: readonly string[]; stopped: boolean }> {
  const secrets = found.filter(isNamed);
  const sent = found.map(canaryOf).filter((id) => id !== undefined);
  // Whom an automatic answer goes to a stranger chose.
  const keys = door === 'automatic' ? [] : keysOf(recipients);
  const canaries = [...new Set([...sent, ...(await store.read(canaryAddresses, { tenant, keys }))])];
  if (canaries.length === 0) return { secrets, stopped: false };
  const outcome = await tripped({ canaries, door, recipients });
  return outcome === 'stopped'
    ? { secrets, stopped: true }
    : { secrets: [...new Set([...secrets, 'password'])], stopped: false };
}

function isNamed(kind: SecretKind): kind is ShownKind {
  return canaryOf(kind) === undefined;
}

function keysOf(recipients: readonly string[]): string[] {
  return recipients.flatMap((one) => {
    const address = parseAddress(one);
    return address === undefined ? [] : lookupKeys(address);
  });
}
