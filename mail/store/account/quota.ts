import { query } from '../engine/types.ts';
import { stateOf } from './type-state.ts';

/** Usage and limits of an account; null: no limit. */
export interface QuotaUse extends Record<string, number | null> {
  usedBytes: number;
  quotaBytes: number | null;
  usedCount: number;
  quotaCount: number | null;
}

export const quotaOf = query(
  'quota-of',
  async (rx, { account }: { account: number }): Promise<{ use: QuotaUse | undefined; state: number }> => ({
    use: await rx.get<QuotaUse>(
      `SELECT used_bytes AS usedBytes, quota_bytes AS quotaBytes, used_count AS usedCount, quota_count AS quotaCount
       FROM account WHERE id = ?`,
      account,
    ),
    state: await stateOf(rx, account, 'Quota'),
  }),
);
