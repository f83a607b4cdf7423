import { lookup } from '../../mail/store/engine/types.ts';

/** Trace id of a scheduled or queued message of a tenant. */
export const traceOfSubmission = lookup(
  'trace-of-submission',
  async (rx, { tenant, id }: { tenant: number; id: number }): Promise<string | undefined> => {
    const row = await rx.get<{ trace: string }>('SELECT trace FROM submission WHERE id = ? AND tenant = ?', id, tenant);
    return row?.trace;
  },
);
