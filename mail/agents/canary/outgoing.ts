import { lookupKeys, parseAddress } from '../../message/address.ts';
import { canaryAddresses, canaryOf } from './canary.ts';
import type { SecretKind, ShownKind } from '../secrets/shown-secret.ts';
import type { MailStore } from '../../store/store.ts';
import type { AgentSending, EgressWatch } from '../gate/types.ts';

interface Mail {
  tenant: number;
  recipients: readonly string[];
  protocol: string;
}

/**
 * Adds the secrets found in an agent's mail. If a canary is among them, or the mail goes to the address of one, the agent is
 * frozen before the answer, and the mail is refused like that of any frozen agent: the canary is not named.
 */
export async function checkCanaries<T extends Omit<AgentSending, 'secrets'>>(
  store: MailStore,
  watch: EgressWatch,
  { agent, found }: { agent: T; found: readonly SecretKind[] },
  mail: Mail,
): Promise<T & { secrets: readonly string[] }> {
  const { secrets, stopped } = await namedSecrets(store, watch, found, mail);
  return { ...agent, ...(stopped && { mode: 'frozen' }), secrets };
}

/** Separates canaries from secrets that may be named, and stops the agent over a canary. */
export async function namedSecrets(
  store: Pick<MailStore, 'read'>,
  { tripped }: Pick<EgressWatch, 'tripped'>,
  found: readonly SecretKind[],
  { tenant, recipients, protocol }: Mail,
): Promise<{ secrets: readonly string[]; stopped: boolean }> {
  const secrets = found.filter(isNamed);
  const sent = found.map(canaryOf).filter((id) => id !== undefined);
  // The sender of the answered mail chose the recipient of an automatic answer.
  const keys = protocol === 'automatic' ? [] : keysOf(recipients);
  const canaries = [...new Set([...sent, ...(await store.read(canaryAddresses, { tenant, keys }))])];
  if (canaries.length === 0) return { secrets, stopped: false };
  const outcome = await tripped({ canaries, protocol, recipients });
  return outcome === 'stopped'
    ? { secrets, stopped: true }
    : { secrets: [...new Set([...secrets, 'password'])], stopped: false };
}

function isNamed(kind: SecretKind): kind is ShownKind {
  return canaryOf(kind) === undefined;
}

function keysOf(recipients: readonly string[]): string[] {
  const keys: string[] = [];
  for (const one of recipients) {
    const address = parseAddress(one);
    if (address !== undefined) keys.push(...lookupKeys(address));
  }
  return keys;
}
