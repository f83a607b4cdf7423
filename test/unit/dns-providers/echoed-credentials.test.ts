import { expect, test } from 'vitest';
import { DNS_PROVIDERS } from '../../../src/dns-providers/providers.ts';
import type { ProviderTransport } from '../../../src/dns-providers/transport.ts';
import { withoutCredentials } from '../../../src/dns-providers/redact-credentials.ts';
import { FAKE_ZONE, json } from '../../support/dns-apis/fake-dns-api.ts';
import { fakeCloudflare } from '../../support/dns-apis/record-apis.ts';
import { publishingBox } from '../../support/publishing-box.ts';

const SECRET = 'cf-s3cr3t/With+"quotes';
const never = new AbortController().signal;

/** Values for all fields of a provider. */
const credentialsOf = ({ fields }: (typeof DNS_PROVIDERS)[number]): Record<string, string> =>
  Object.fromEntries(fields.map(({ name, secret }) => [name, secret ? `${SECRET} ${name}` : 'eu']));

test.each(DNS_PROVIDERS)('no refusal of $id that quotes the credentials is passed on with them', async (kind) => {
  const credentials = credentialsOf(kind);
  const echo: ProviderTransport = async (what) => json({ message: `bad: ${what.body ?? ''}`, token: credentials }, 403);
  const request = {
    method: 'POST',
    url: new URL('https://api.example/'),
    headers: {},
    body: JSON.stringify(credentials),
  };
  const { body } = await withoutCredentials(echo, kind, credentials)({ ...request, method: 'POST' }, never);
  expect(body).not.toContain('s3cr3t');
  expect(body).toContain('[credential]');
});

test('a provider that quotes a refused token: the answer and what is stored for people do not have it', async () => {
  const api = fakeCloudflare();
  const token = 'v1.0-very-secret-token';
  const refusals: string[] = [];
  let isRefusing = false;
  const transport: ProviderTransport = (request) => {
    const good = { ...request, headers: { ...request.headers, authorization: 'Bearer good' } };
    const words = { errors: [{ message: `Invalid token ${request.headers['authorization'] ?? ''}` }] };
    return Promise.resolve(isRefusing ? json(words, 403) : api.answer(good));
  };
  await using box = await publishingBox(FAKE_ZONE, { transport });
  await box.do('connect_dns_provider', { provider: 'cloudflare', credentials: { token } });
  isRefusing = true;
  for (const operation of ['preview_dns_changes', 'publish_dns_records']) {
    refusals.push(await box.do(operation).then(String, String));
  }
  refusals.push(JSON.stringify(await box.do('get_dns_provider')));
  for (const text of refusals) {
    expect(text).toContain('Invalid token Bearer [credential]');
    expect(text).not.toContain(token);
  }
  expect(await box.sealed()).not.toContain(token);
});
