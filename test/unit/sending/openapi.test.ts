import { expect, test } from 'vitest';
import { sendingPaths } from '../../../src/http/openapi-sending.ts';
import { EmailRequest, findRequestError } from '../../../src/sending/email-request.ts';

test('every example body in the OpenAPI document is accepted', () => {
  const bodies = sendingPaths().flatMap(({ operation: what }) => {
    const { requestBody } = what as {
      requestBody?: { content: Record<string, { examples?: Record<string, { value: unknown }> }> };
    };
    const examples = requestBody?.content['application/json']?.examples ?? {};
    return Object.values(examples).flatMap(({ value }) => [value].flat());
  });
  expect(bodies.length).toBeGreaterThan(4);
  for (const body of bodies) expect(findRequestError(EmailRequest.parse(body))).toBeUndefined();
});
