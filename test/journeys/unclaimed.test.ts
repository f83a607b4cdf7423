import { createTransport } from 'nodemailer';
import { expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { CurlAgent, hasCurl } from '../support/curl.ts';
import { Internet } from '../support/internet.ts';

const HOST = 'mail.box.example';

async function sender(box: Box, internet: Internet): Promise<(to: string) => Promise<string>> {
  const agent = new CurlAgent(`http://127.0.0.1:${box.port('http')}`);
  const made = await agent.tool<{ token: string }>('create_account_and_claim_link', {
    ownerEmail: 'owner@elsewhere.example',
    organizationName: 'Fresh',
  });
  agent.token = made.token;
  const { copyPaste } = await agent.tool<{ copyPaste: string }>('add_email_domain', { domain: 'fresh.example' });
  internet.publish(copyPaste);
  await agent.tool('verify_email_domain', { domain: 'fresh.example' });
  await agent.tool('provision_email', { domain: 'fresh.example', localPart: 'me' });
  const { smtp } = await agent.tool<{ smtp: { port: number; password: string } }>('reveal_email_credentials', {
    address: 'me@fresh.example',
  });
  const transport = createTransport({
    host: '127.0.0.1',
    port: smtp.port,
    secure: true,
    tls: { rejectUnauthorized: false },
    auth: { user: 'me@fresh.example', pass: smtp.password },
  });
  return (to) =>
    transport.sendMail({ from: 'me@fresh.example', to, subject: 'Hello', text: 'Hello' }).then(
      () => 'accepted',
      (error: Error) => error.message,
    );
}

test.skipIf(!hasCurl)('an organization that nobody claimed sends a little, and is informed why no more', async () => {
  await using internet = await Internet.start();
  internet.publish(`${HOST}. IN A 127.0.0.1`);
  await using box = await startBox({ hostname: HOST, settings: { RESOLVERS: internet.address } });
  const send = await sender(box, internet);
  const said: string[] = [];
  for (let i = 0; i < 11; i++) said.push(await send('somebody@elsewhere.example'));
  expect(said.filter((one) => one === 'accepted')).toHaveLength(10);
  expect(said.at(-1)).toMatch(/450.*10 messages in 10 seconds.*claimed/);
});

test.skipIf(!hasCurl)('or to its owner only, when the operator wants it so', async () => {
  await using internet = await Internet.start();
  internet.publish(`${HOST}. IN A 127.0.0.1`);
  const settings = { RESOLVERS: internet.address, UNCLAIMED_SENDING: 'owner' };
  await using box = await startBox({ hostname: HOST, settings });
  const send = await sender(box, internet);
  expect(await send('Owner@Elsewhere.example')).toBe('accepted');
  expect(await send('somebody@elsewhere.example')).toMatch(/550.*somebody@elsewhere\.example.*claimed/);
});
