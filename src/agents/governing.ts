import { type AgentPolicy, DEFAULT_POLICY } from '../../mail/delivery/agent/types.ts';

/** Who works where: a credential by its public id (null: the password of the mailbox), in these accounts of a tenant. */
export interface Governed {
  readonly tenant: number;
  readonly accounts: readonly number[];
  readonly credential: string | null;
}

/** What holds for an agent; `governed`: somebody chose it. */
export type Governing = (of: Governed) => Promise<{ policy: AgentPolicy; governed: boolean }>;

/** Nobody chose anything. */
export const byDefault: Governing = () => Promise.resolve({ policy: DEFAULT_POLICY, governed: false });
