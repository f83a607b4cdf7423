import { expect, test } from 'vitest';
import { coreOf } from '../../../mail/agents/secrets/shown-form.ts';
import { indexMessage } from '../../../mail/message/indexer.ts';
import { newHoneytoken, newLocalPart } from '../../../src/canaries/canaries.ts';
import { secretKind, DECOY_TOPICS, composeDecoy } from '../../../src/canaries/decoy.ts';

const NOW = Date.UTC(2026, 10, 1);

test.each(DECOY_TOPICS)(
  'the story %s shows in lists what it is about, and nothing of what nobody should look for',
  (story) => {
    const honeytoken = newHoneytoken(secretKind(story));
    const login = `${newLocalPart()}@a.test`;
    const { data, receivedAt } = composeDecoy(story, {
      owner: { local: 'me', domain: 'a.test' },
      honeytoken,
      login,
      now: NOW,
    });
    const text = data.toString();
    expect(text).toContain(honeytoken);
    expect(text).toContain(login);
    const { preview, subject } = indexMessage(data);
    expect(preview.length).toBeGreaterThan(200);
    expect(`${subject} ${preview}`).not.toContain('login:');
    expect(`${subject} ${preview}`).not.toContain(honeytoken.slice(0, 8));
    expect(NOW - receivedAt).toBeGreaterThan(0);
  },
);

test('a honeytoken is long enough to be known again, and none is made twice', () => {
  const all = (['password', 'key'] as const).flatMap((form) => Array.from({ length: 500 }, () => newHoneytoken(form)));
  const cores = all.map((one) => coreOf('password', one) ?? '');
  expect(cores.filter((core) => core.length < 24)).toEqual([]);
  expect(new Set(cores).size).toBe(1000);
});
