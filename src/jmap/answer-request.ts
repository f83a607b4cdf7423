import type { JmapDesk, JmapSession } from '../../mail/jmap/method.ts';
import type { JmapRequest } from '../../mail/jmap/request.ts';
import type { JmapResponse } from '../../mail/jmap/run.ts';

/** Answers a request. The methods are loaded with the first one: they are memory that many boxes never need. */
export async function answerRequest(desk: JmapDesk, session: JmapSession, request: JmapRequest): Promise<JmapResponse> {
  const { runRequest } = await import('../../mail/jmap/run.ts');
  return runRequest(desk, session, request);
}
