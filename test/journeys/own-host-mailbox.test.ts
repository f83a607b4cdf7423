import { expect, test } from 'vitest';
import { startBox } from '../support/box.ts';

// Its account would belong to no organization: it could log in and never send.
test('no mailbox is created at the own host name of the server', async () => {
  await using box = await startBox({ hostname: 'mail.home.example' });
  await expect(box.ask('add_mailbox', { address: 'root@mail.home.example' })).rejects.toThrow(
    /mail\.home\.example is the name of this server.*Add a domain/,
  );
  await expect(box.ask('add_mailbox', { address: 'root@MAIL.home.example' })).rejects.toThrow(/name of this server/);
  await box.ask('add_domain', { domain: 'home.example' });
  expect(await box.ask('add_mailbox', { address: 'root@home.example' })).toHaveProperty('password');
});
