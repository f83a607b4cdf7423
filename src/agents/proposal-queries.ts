import { lookup } from '../../mail/store/engine/types.ts';

export type ProposalState = 'pending' | 'accepted' | 'refused' | 'replaced' | 'expired';

export interface Proposal {
  id: number;
  /** Token that proposed it, and its name. */
  token: number;
  tokenName: string;
  operation: string;
  target: string;
  state: ProposalState;
  /** Sealed; empty once decided. */
  input: Uint8Array;
  digest: Uint8Array;
  /** ms UTC. */
  createdAt: number;
  expiresAt: number;
  decidedAt: number | null;
  decidedBy: string | null;
  outcome: string | null;
}

/** Proposals of an organization, newest first; of one token if given. `before`: the last id already shown. */
export const proposalsOf = lookup(
  'proposals-of',
  async (
    rx,
    input: { organization: number; token: number | null; before: number | null; limit: number; now: number },
  ): Promise<Proposal[]> => {
    const rows = await rx.all<Columns>(
      `SELECT p.*, t.name AS token_name FROM proposal p LEFT JOIN token t ON t.id = p.token_id
       WHERE p.organization_id = ?1 AND p.id < ?2 AND (?3 IS NULL OR p.token_id = ?3) ORDER BY p.id DESC LIMIT ?4`,
      input.organization,
      input.before ?? Number.MAX_SAFE_INTEGER,
      input.token,
      input.limit,
    );
    return rows.map((row) => proposalOf(row, input.now));
  },
);

/** Pending proposals of an organization, oldest first. */
export const pendingProposalsOf = lookup(
  'waiting-proposals',
  async (rx, input: { organization: number; limit: number; now: number }): Promise<Proposal[]> => {
    const rows = await rx.all<Columns>(
      `SELECT p.*, t.name AS token_name FROM proposal p INDEXED BY proposal_pending LEFT JOIN token t ON t.id = p.token_id
       WHERE p.organization_id = ?1 AND p.state = 'pending' AND p.expires_at > ?2 ORDER BY p.id LIMIT ?3`,
      input.organization,
      input.now,
      input.limit,
    );
    return rows.map((row) => proposalOf(row, input.now));
  },
);

/** Outcome of an accepted proposal; null: not recorded. */
export const proposalOutcome = lookup(
  'proposal-outcome',
  async (rx, { id }: { id: number }): Promise<string | null> => {
    const row = await rx.get<{ outcome: string | null }>('SELECT outcome FROM proposal WHERE id = ?', id);
    return row?.outcome ?? null;
  },
);

/** Number of pending proposals. */
export const countPendingProposals = lookup(
  'pending-proposals',
  async (rx, { organization, now }: { organization: number; now: number }): Promise<number> => {
    const row = await rx.get<{ n: number }>(
      `SELECT count(*) AS n FROM proposal WHERE organization_id = ? AND state = 'pending' AND expires_at > ?`,
      organization,
      now,
    );
    return row?.n ?? 0;
  },
);

type Columns = {
  id: number;
  token_id: number;
  token_name: string | null;
  operation: string;
  target: string;
  state: string;
  input: Uint8Array;
  digest: Uint8Array;
  created_at: number;
  expires_at: number;
  decided_at: number | null;
  decided_by: string | null;
  outcome: string | null;
};

function proposalOf(row: Columns, now: number): Proposal {
  const state = row.state as ProposalState;
  return {
    id: row.id,
    token: row.token_id,
    tokenName: row.token_name ?? '',
    operation: row.operation,
    target: row.target,
    state: state === 'pending' && row.expires_at <= now ? 'expired' : state,
    input: row.input,
    digest: row.digest,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    outcome: row.outcome,
  };
}
