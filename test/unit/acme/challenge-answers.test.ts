import { expect, test } from 'vitest';
import { ChallengeAnswers } from '../../../src/acme/challenge-answers.ts';
import type { ChallengeTask } from '../../../src/acme/order.ts';

const NOW = Date.UTC(2026, 10, 28);
const task = { name: 'mail.example.org', token: 'token-1', keyAuthorization: 'token-1.thumbprint' } as ChallengeTask;

test('the answers of one node are those of the others, from their beginning to their end', async () => {
  const other = new ChallengeAnswers();
  const following: Promise<void>[] = [];
  const own = new ChallengeAnswers((change) => following.push(other.follow(change, NOW)));
  const token = own.addToken(task);
  const certificate = await own.addCertificate(task, NOW);
  own.addText('_acme-challenge.example.org', 'one');
  own.addText('_acme-challenge.example.org', 'two');
  own.removeText('_acme-challenge.example.org', 'one');
  await Promise.all(following);
  expect(other.tokenText('token-1')).toBe('token-1.thumbprint');
  expect(other.certificateFor('mail.example.org')).toBeDefined();
  expect(other.textsAt('_acme-challenge.example.org')).toEqual(['two']);
  await token[Symbol.asyncDispose]();
  await certificate[Symbol.asyncDispose]();
  own.removeText('_acme-challenge.example.org', 'two');
  await Promise.all(following);
  expect(other.tokenText('token-1')).toBeUndefined();
  expect(other.hasCertificates).toBe(false);
  expect(other.existsAt('_acme-challenge.example.org')).toBe(false);
});
