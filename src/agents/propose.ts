import { createHmac } from 'node:crypto';
import type { Call, Operation } from '../operations/operation.ts';
import { publicId } from '../ids.ts';
import { refuse } from '../operations/refusal.ts';
import { findOrganization } from '../organizations/commands.ts';
import { callerPolicy } from './caller-policy.ts';
import { agentStanding } from './queries.ts';
import { addProposal } from './proposal-commands.ts';

const KEEP_MS = 7 * 86_400_000;
/** Octets of the arguments. */
const LARGEST = 64 * 1024;
const PURPOSE = 'proposal';

/** What an operation answers instead of its result while a person has to accept it. */
export type PendingApproval = {
  status: 'pending_approval';
  proposalId: string;
  approveUrl: string;
  /** RFC 3339. */
  expiresAt: string;
  message: string;
};

/** Whether this call comes from a token and a person has to accept it: a rule of mail that waits, or a letter to a stranger. */
export async function waitsForPerson(call: Call, operation: Operation, input: unknown): Promise<boolean> {
  if (operation.rule === undefined || call.caller.kind !== 'token') return false;
  const about = await operation.rule(call, input as never);
  if (about === undefined) return false;
  const { policy } = await callerPolicy(call, about);
  if (policy.rulesWait) return true;
  return operation.writesToStrangers === true && (policy.sends !== 'anybody' || (await mayBeTalkedInto(call)));
}

/** It has read mail of outsiders lately, and somebody could accept what it proposes. */
async function mayBeTalkedInto({ store, caller, clock }: Call): Promise<boolean> {
  const standing = await store.read(agentStanding, { id: caller.token?.id ?? 0, now: clock() });
  return standing !== undefined && standing.exposed && standing.attended;
}

/**
 * Keeps a call for a person instead of doing it; `given` are its arguments as they came, which were understood. Once a
 * person accepts, exactly that is done with the rights of the token.
 */
export async function propose(call: Call, operation: string, given: unknown, target = ''): Promise<PendingApproval> {
  const { caller, tenant, secrets, clock } = call;
  const text = JSON.stringify(given ?? {});
  if (Buffer.byteLength(text) > LARGEST) refuse('too_large', 'This is too long to be proposed.', { maxBytes: LARGEST });
  const token =
    caller.token?.id ?? refuse('action_not_allowed', 'People do this at once: there is nothing to propose.');
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
    expiresAt: clock() + KEEP_MS,
  };
  const done = await call.change(addProposal, row, operation, { proposed: true });
  switch (done.kind) {
    case 'pending':
      return pending(call, done);
    case 'target-taken': {
      const id = publicId('proposal', done.id);
      return refuse('conflict', `${id} waits for the same already: wait until a person decides.`, { proposalId: id });
    }
    case 'too-many':
      return refuse('conflict', 'Too many proposals wait for a person: wait until some are decided.', {
        resource: 'proposal',
      });
  }
}

async function pending(
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
    message: `Nothing was done yet. ${who}; list_proposals says what became of it. Asking again changes nothing.`,
  };
}

/** The arguments of a proposal. Throws when the box has another key than the one that they were sealed with. */
export function proposedInput(
  { secrets }: Pick<Call, 'secrets'>,
  { input, digest }: { input: Uint8Array; digest: Uint8Array },
): unknown {
  const opened = secrets.open(PURPOSE, PURPOSE, Buffer.from(digest).toString('hex'), input);
  return JSON.parse(opened.toString('utf8'));
}
