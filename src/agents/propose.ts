import { createHmac } from 'node:crypto';
import type { Call, Operation } from '../core/operation.ts';
import { publicId } from '../core/ids.ts';
import { refuse } from '../core/refusal.ts';
import { findOrganization } from '../organizations/commands.ts';
import { callerPolicy } from './caller-policy.ts';
import { agentStatus } from './queries.ts';
import { addProposal } from './proposal-commands.ts';

const EXPIRY_MS = 7 * 86_400_000;
/** Maximum octets of the arguments. */
const MAX_ARGUMENT_OCTETS = 64 * 1024;
const PURPOSE = 'proposal';

/** Result of an operation that awaits approval. */
export type PendingApproval = {
  status: 'pending_approval';
  proposalId: string;
  approveUrl: string;
  /** RFC 3339. */
  expiresAt: string;
  message: string;
};

/** Tests if a token's call needs approval: an irreversible one, a rule under a policy, or mail to a new recipient. */
export async function needsApproval(call: Call, operation: Operation, input: unknown): Promise<boolean> {
  if (call.caller.kind !== 'token') return false;
  if ((await operation.irreversible?.(call, input as never)) === true) return true;
  if (operation.rule === undefined) return false;
  const about = await operation.rule(call, input as never);
  if (about === undefined) return false;
  const { policy, governed } = await callerPolicy(call, about);
  if (policy.rulesWait) return true;
  const { writesToStrangers } = operation;
  if (writesToStrangers === undefined || (writesToStrangers === 'governed' && !governed)) return false;
  return policy.sends !== 'anybody' || mayBeInjected(call);
}

/** Tests if the token has read mail from outsiders lately (prompt injection), and a person could approve. */
export async function mayBeInjected({ store, caller, clock }: Call): Promise<boolean> {
  const status = await store.read(agentStatus, { id: caller.token?.id ?? 0, now: clock() });
  return status !== undefined && status.tainted && status.attended;
}

/**
 * Stores a call as a proposal instead of executing it; `given` are its validated arguments as sent. After approval exactly
 * this call runs, with the rights of the token.
 */
export async function propose(call: Call, operation: string, given: unknown, target = ''): Promise<PendingApproval> {
  const { caller, tenant, secrets, clock } = call;
  const text = JSON.stringify(given ?? {});
  if (Buffer.byteLength(text) > MAX_ARGUMENT_OCTETS)
    refuse('too_large', 'The arguments are too long for a proposal.', { maxBytes: MAX_ARGUMENT_OCTETS });
  const token =
    caller.token?.id ?? refuse('action_not_allowed', 'Only a token can propose; people make the change directly.');
  const digest = createHmac('sha256', secrets.subkey(PURPOSE))
    .update(JSON.stringify([tenant, token, operation, text]))
    .digest();
  const row = {
    organization: tenant,
    token,
    operation,
    target,
    actions: [...caller.actions],
    input: secrets.seal(PURPOSE, PURPOSE, digest.toString('hex'), Buffer.from(text)),
    digest,
    expiresAt: clock() + EXPIRY_MS,
  };
  const done = await call.change(addProposal, row, operation, { proposed: true });
  switch (done.kind) {
    case 'pending':
      return pendingApproval(call, done);
    case 'target-taken': {
      const id = publicId('proposal', done.id);
      return refuse('conflict', `${id} already proposes this: wait for a decision.`, { proposalId: id });
    }
    case 'too-many':
      return refuse('conflict', 'Too many proposals are pending: wait for some decisions.', {
        resource: 'proposal',
      });
  }
}

async function pendingApproval(
  { store, tenant, baseUrl }: Call,
  { id, expiresAt }: { id: number; expiresAt: number },
): Promise<PendingApproval> {
  const claimed = (await store.read(findOrganization, { id: tenant }))?.claimedAt !== null;
  const who = claimed
    ? 'A person accepts or refuses it at approveUrl'
    : 'Nobody can accept it until a person claims this organization';
  return {
    status: 'pending_approval',
    proposalId: publicId('proposal', id),
    approveUrl: `${baseUrl()}/o/${publicId('organization', tenant)}/proposals`,
    expiresAt: new Date(expiresAt).toISOString(),
    message: `Not executed yet. ${who}; list_proposals shows its status. Do not repeat the call.`,
  };
}

/** Unseals the arguments of a proposal. Throws if the box's key has changed. */
export function proposedInput(
  { secrets }: Pick<Call, 'secrets'>,
  { input, digest }: { input: Uint8Array; digest: Uint8Array },
): unknown {
  const opened = secrets.open(PURPOSE, PURPOSE, Buffer.from(digest).toString('hex'), input);
  return JSON.parse(opened.toString('utf8'));
}
