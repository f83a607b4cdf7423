import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ConsentWorld, consentWorld } from '../../support/consent-world.ts';

let box: ConsentWorld;
beforeAll(async () => {
  box = await consentWorld();
});
afterAll(() => box[Symbol.asyncDispose]());

test('the log of the server ends for an administrator who becomes a plain member, or leaves', async () => {
  const streams = [];
  for (const end of [(user: number) => box.change(user, 'member'), (user: number) => box.leave(user)]) {
    const { user, visitor } = await box.someone('admin', 1);
    const headers = { cookie: visitor.cookie ?? '' };
    const response = await fetch(`${box.base}/o/org_1/log/events`, { headers });
    expect(response.status).toBe(200);
    streams.push(response.text());
    await end(user);
  }
  expect(await Promise.all(streams)).toHaveLength(2);
}, 180_000);
