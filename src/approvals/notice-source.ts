import type { SystemNotice } from '../../mail/delivery/notice.ts';
import type { NoticeContext } from '../notices/compose.ts';
import type { NoticeSource } from '../notices/notifier.ts';
import { notifyApprovals } from './commands.ts';
import { composeApprovalRequest } from './notice.ts';
import { type NotifiedUpTo, notifiedUpTo, unreportedApprovals } from './queries.ts';

const MAX_TENANTS = 20;

interface ComposedRequest {
  notices: readonly SystemNotice<'approval-request'>[];
  upTo: NotifiedUpTo;
}

/** Notifies owners of pending mail and proposals: one notice with all of them, then none for ten minutes. */
export function approvalRequests(context: NoticeContext): NoticeSource<number, ComposedRequest> {
  const { store, clock } = context;
  return {
    kind: 'approval-request',
    everyMs: 5_000,
    event: { level: 'info', message: 'owners notified of pending approvals' },
    async *due() {
      yield* await store.read(unreportedApprovals, { now: clock(), limit: MAX_TENANTS });
    },
    async compose(tenant) {
      // Read before composing: what arrives meanwhile gets its own notice.
      const upTo = await store.read(notifiedUpTo, { tenant });
      return { upTo, notices: await composeApprovalRequest(context, tenant) };
    },
    async mark(tenant, { upTo, notices }) {
      const { notified } = await store.write(notifyApprovals, { tenant, upTo, notices });
      return notified === 0 ? undefined : { organization: tenant, events: notified };
    },
  };
}
