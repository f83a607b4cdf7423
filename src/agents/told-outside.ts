import { namedSecrets } from '../../mail/delivery/agent/canaries.ts';
import { secretsInWords, soughtIn } from '../../mail/delivery/agent/secrets-in-words.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { frozen } from '../operations/mode.ts';
import type { Call, Operation } from '../operations/operation.ts';
import { refuse } from '../operations/refusal.ts';
import { doorOf } from '../reading/opened.ts';
import { findOrganization } from '../organizations/commands.ts';
import { SHOWN_PURPOSE } from '../sending/shown-secrets.ts';

/**
 * Refuses a call of a token by which the box would tell somebody outside a secret otherwise than in a message: in a letter of
 * its own, or as a name that it looks up. The gate sees nothing of these.
 */
export async function withoutSecrets(call: Call, operation: Operation, input: unknown): Promise<void> {
  const { caller, store, secrets, settings, agents, clock } = call;
  if (operation.tellsOutside === undefined || caller.kind !== 'token') return;
  const { tenant } = call;
  const words = await operation.tellsOutside(call, input as never);
  const key = Uint8Array.from(secrets.subkey(SHOWN_PURPOSE));
  const sought = await soughtIn(store, { prefix: settings.tokenPrefix, key }, { tenant, now: clock() });
  const found = await secretsInWords(words, sought);
  // Of the words only addresses are written down: the others may be the secret.
  const recipients = words.filter((one) => parseAddress(one) !== undefined);
  const told = { tenant, recipients, door: doorOf(caller.way, operation.name) };
  const watch = {
    tripped: (trip: Parameters<typeof agents.canaries.sent>[1]) => agents.canaries.sent(caller.actor, trip),
  };
  const { secrets: kinds, stopped } = await namedSecrets(store, watch, found, told);
  if (stopped) frozen();
  if (kinds.length === 0) return;
  refuse(
    'secret_in_message',
    `This would tell somebody outside a secret (${kinds.join(', ')}), so nothing was done: leave it out.`,
    { kinds },
  );
}

/** How letters name the organization: its tokens may name it as they like. */
export async function nameInLetters({ store, tenant }: Call): Promise<string> {
  return (await store.read(findOrganization, { id: tenant }))?.name ?? '';
}
