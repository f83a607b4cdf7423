import { namedSecrets } from '../../mail/agents/canary/outgoing.ts';
import { secretsInWords } from '../../mail/agents/secrets/scan.ts';
import { loadSecretPatterns } from '../../mail/agents/secrets/secret-patterns.ts';
import { parseAddress } from '../../mail/message/address.ts';
import { refuseFrozen } from '../core/mode.ts';
import type { Call, Operation } from '../core/operation.ts';
import { refuse } from '../core/refusal.ts';
import { accessPath } from '../reading/read-record.ts';
import { findOrganization } from '../organizations/commands.ts';
import { SHOWN_PURPOSE } from './shown-secrets.ts';

/**
 * Rejects a token's call that would leak a secret outside of a message: in a notice, or in a name that is looked up. The gate
 * does not see these.
 */
export async function refuseSecretsOutside(call: Call, operation: Operation, input: unknown): Promise<void> {
  const { caller, store, secrets, settings, agents, clock } = call;
  if (operation.outgoingTexts === undefined || caller.kind !== 'token') return;
  const { tenant } = call;
  const words = await operation.outgoingTexts(call, input as never);
  const key = Uint8Array.from(secrets.subkey(SHOWN_PURPOSE));
  const sought = await loadSecretPatterns(store, { prefix: settings.tokenPrefix, key }, { tenant, now: clock() });
  const found = await secretsInWords(words, sought);
  // Records only addresses: other words may be the secret.
  const recipients = words.filter((one) => parseAddress(one) !== undefined);
  const target = { tenant, recipients, protocol: accessPath(caller.way, operation.name) };
  const watch = {
    tripped: (trip: Parameters<typeof agents.canaries.sent>[1]) => agents.canaries.sent(caller.actor, trip),
  };
  const { secrets: kinds, stopped } = await namedSecrets(store, watch, found, target);
  if (stopped) refuseFrozen();
  if (kinds.length === 0) return;
  refuse('secret_in_message', `Blocked: this would send a secret outside (${kinds.join(', ')}). Remove it and retry.`, {
    kinds,
  });
}

/** Name of the organization for notices; its tokens may choose any name. */
export async function nameInNotices({ store, tenant }: Call): Promise<string> {
  return (await store.read(findOrganization, { id: tenant }))?.name ?? '';
}
