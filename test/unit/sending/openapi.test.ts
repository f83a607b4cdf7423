import { expect, test } from 'vitest';
import { sendingPaths } from '../../../src/http/openapi-sending.ts';
import { EmailRequest, flawOf } from '../../../src/sending/email-request.ts';

test('every example of a body is one that is accepted', () => {
  const bodies = sendingPaths().flatMap(({ what }) => {
    const { requestBody } = what as {
      requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
    };
    const examples = requestBody?.content['application/json']?.examples ?? {};
    return Object.values(examples).flatMap(({ value }) => [value].flat());
  });
  expect(bodies.length).toBeGreaterThan(4);
  for (const body of bodies) expect(flawOf(EmailRequest.parse(body))).toBeUndefined();
});
