import { command, type Stamp, type Write } from '../../mail/store/engine/types.ts';

/** Pending proposals of one token, and of an organization. */
export const MAX_PER_TOKEN = 20;
export const MAX_PENDING_PROPOSALS = 100;
/** Retention of decided and expired proposals. */
export const PROPOSAL_RETENTION_MS = 30 * 86_400_000;
const SLICE = 200;

export interface NewProposal {
  organization: number;
  token: number;
  operation: string;
  /** At most one proposal is pending for a target; '' is none. */
  target: string;
  actions: readonly string[];
  /** Sealed. */
  input: Uint8Array;
  digest: Uint8Array;
  /** ms UTC. */
  expiresAt: number;
}

export type AddProposalResult =
  | { kind: 'pending'; id: number; expiresAt: number }
  /** A proposal of another token is pending for the same target. */
  | { kind: 'target-taken'; id: number }
  | { kind: 'too-many' };

/** Stores a token's proposal until a person decides; a repeated request returns the pending one. */
export const addProposal = command(
  'add-proposal',
  async (tx, input: NewProposal, stamp): Promise<AddProposalResult> => {
    const pending = await pendingNow(tx, input.organization, stamp);
    const same = pending.find((one) => Buffer.from(one.digest).equals(Buffer.from(input.digest)));
    if (same !== undefined) return { kind: 'pending', id: same.id, expiresAt: same.expires_at };
    const other = pending.find((one) => input.target !== '' && one.target === input.target);
    if (other !== undefined && other.token_id !== input.token) return { kind: 'target-taken', id: other.id };
    // A new request for the same target replaces the old one: nobody should accept both.
    if (other !== undefined) await tx.run(`UPDATE proposal SET state = 'replaced', input = x'' WHERE id = ?`, other.id);
    const own = pending.filter((one) => one.token_id === input.token);
    if (pending.length >= MAX_PENDING_PROPOSALS || own.length >= MAX_PER_TOKEN) return { kind: 'too-many' };
    const { id } = await tx.run(
      `INSERT INTO proposal (organization_id, token_id, operation, target, actions, input, digest, state, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?)`,
      input.organization,
      input.token,
      input.operation,
      input.target,
      input.actions.join(' '),
      input.input,
      input.digest,
      stamp.now,
      input.expiresAt,
    );
    return { kind: 'pending', id, expiresAt: input.expiresAt };
  },
);

type PendingRow = { id: number; token_id: number; target: string; digest: Uint8Array; expires_at: number };

function pendingNow(tx: Write, organization: number, { now }: Stamp): Promise<PendingRow[]> {
  return tx.all<PendingRow>(
    `SELECT id, token_id, target, digest, expires_at FROM proposal
     WHERE organization_id = ? AND state = 'pending' AND expires_at > ?`,
    organization,
    now,
  );
}

export interface ProposalDecision {
  organization: number;
  id: number;
  accept: boolean;
  /** Name of the person who decides. */
  by: string;
}

export type ProposalResult =
  | { kind: 'accepted'; operation: string; token: number; actions: string[]; input: Uint8Array; digest: Uint8Array }
  | { kind: 'refused' | 'missing' | 'expired' }
  /** Somebody else decided first. */
  | { kind: 'decided'; state: string };

/** Decides a proposal, once, and deletes its arguments: they may contain secrets. */
export const decideProposal = command(
  'decide-proposal',
  async (tx, input: ProposalDecision, stamp): Promise<ProposalResult> => {
    const row = await tx.get<{
      operation: string;
      token_id: number;
      actions: string;
      input: Uint8Array;
      digest: Uint8Array;
      state: string;
      expires_at: number;
    }>(
      'SELECT operation, token_id, actions, input, digest, state, expires_at FROM proposal WHERE id = ? AND organization_id = ?',
      input.id,
      input.organization,
    );
    if (row === undefined) return { kind: 'missing' };
    if (row.state !== 'pending') return { kind: 'decided', state: row.state };
    if (row.expires_at <= stamp.now) return { kind: 'expired' };
    await tx.run(
      `UPDATE proposal SET state = ?, decided_at = ?, decided_by = ?, input = x'' WHERE id = ?`,
      input.accept ? 'accepted' : 'refused',
      stamp.now,
      input.by,
      input.id,
    );
    if (!input.accept) return { kind: 'refused' };
    const { operation, token_id: token, input: sealed, digest } = row;
    return { kind: 'accepted', operation, token, actions: row.actions.split(' '), input: sealed, digest };
  },
);

/** Records the outcome of an accepted proposal; without it the outcome is unknown. */
export const settleProposal = command(
  'settle-proposal',
  async (tx, { id, outcome }: { id: number; outcome: string }): Promise<void> => {
    await tx.run(`UPDATE proposal SET outcome = ? WHERE id = ? AND state = 'accepted'`, outcome, id);
  },
);

/** Purges a slice of old proposals. */
export const purgeProposals = command('purge-proposals', async (tx, _input: undefined, { now }): Promise<boolean> => {
  const { changes } = await tx.run(
    'DELETE FROM proposal WHERE id IN (SELECT id FROM proposal WHERE expires_at <= ? LIMIT ?)',
    now - PROPOSAL_RETENTION_MS,
    SLICE,
  );
  return changes === SLICE;
});
