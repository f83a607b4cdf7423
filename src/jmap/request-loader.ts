import type { MemoryReservation } from '../../mail/limits/memory-budget.ts';
import type { JmapContext, JmapSession } from '../../mail/jmap/core/method.ts';
import type { JmapRequest } from '../../mail/jmap/core/request.ts';
import type { JmapResponse, runRequest } from '../../mail/jmap/core/request-runner.ts';

// Cached: import() of a loaded module still costs 5% of a request.
let loading: Promise<{ runRequest: typeof runRequest }> | undefined;

/** Runs a request; `isGone`: its client is gone. Loads the methods on first use, to save memory where JMAP is not used. */
export async function runJmapRequest(
  jmap: JmapContext,
  session: JmapSession,
  request: JmapRequest,
  memory: MemoryReservation,
  isGone: () => boolean,
): Promise<JmapResponse> {
  loading ??= import('../../mail/jmap/core/request-runner.ts');
  const response = await (await loading).runRequest(jmap, session, request, memory, isGone);
  await session.onResponse?.(response);
  return response;
}
