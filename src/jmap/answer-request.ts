import type { JmapDesk, JmapSession } from '../../mail/jmap/method.ts';
import type { JmapRequest } from '../../mail/jmap/request.ts';
import type { JmapResponse, runRequest } from '../../mail/jmap/run.ts';

// Kept: the loader takes a twentieth of a request to find what is loaded already.
let loading: Promise<{ runRequest: typeof runRequest }> | undefined;

/** Answers a request. The methods are loaded with the first one: they are memory that many boxes never need. */
export async function answerRequest(desk: JmapDesk, session: JmapSession, request: JmapRequest): Promise<JmapResponse> {
  loading ??= import('../../mail/jmap/run.ts');
  const response = await (await loading).runRequest(desk, session, request);
  await session.answered?.(response);
  return response;
}
