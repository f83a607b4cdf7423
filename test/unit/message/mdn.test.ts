import { describe, expect, test } from 'vitest';
import { toAddress } from '../../support/receive-message.ts';
import { composeMdn, type Mdn, readMdn } from '../../../mail/message/mdn.ts';

const MDN: Mdn = {
  from: { name: 'Me', address: toAddress('me@box.test') },
  to: [toAddress('ann@remote.example')],
  subject: 'Gelesen: Grüße',
  text: 'I saw it.\nThanks.',
  date: 0,
  messageId: '<r@box.test>',
  reportingUa: 'pc.box.test; Program 1.0',
  gateway: '',
  originalRecipient: 'rfc822; sales@box.test',
  finalRecipient: 'rfc822; me@box.test',
  originalMessageId: '<m@remote.example>',
  disposition: { actionMode: 'manual-action', sendingMode: 'mdn-sent-manually', type: 'displayed' },
  errors: [],
  extensions: { 'X-Extra': 'some more' },
  original: null,
};

const wire = (text: string): Buffer => Buffer.from(text.replace(/\r?\n/g, '\r\n'));
const receipt = (fields: string): Buffer =>
  wire(
    `From: a@b.example\nSubject: Read\nContent-Type: multipart/report; report-type=disposition-notification; boundary=x\n\n--x\nContent-Type: text/plain\n\nwords\n--x\nContent-Type: message/disposition-notification\n\n${fields}\n--x--\n`,
  );

describe('receipts', () => {
  test('what is written is what is read', () => {
    const read = readMdn(composeMdn(MDN));
    expect(read).toMatchObject({
      subject: 'Gelesen: Grüße',
      text: 'I saw it.\r\nThanks.\r\n',
      hasOriginal: false,
      reportingUa: MDN.reportingUa,
      gateway: '',
      originalRecipient: MDN.originalRecipient,
      finalRecipient: MDN.finalRecipient,
      originalMessageId: MDN.originalMessageId,
      disposition: MDN.disposition,
      errors: [],
      extensions: { 'x-extra': 'some more' },
    });
  });

  test('the original goes back octet for octet', () => {
    const original = wire('Subject: x\n\nbody \xe9\n');
    const written = composeMdn({ ...MDN, original });
    expect(written.includes(original)).toBe(true);
    expect(readMdn(written)).toMatchObject({ hasOriginal: true });
  });

  test('no value begins another field', () => {
    const written = composeMdn({ ...MDN, reportingUa: 'x\r\nBcc: y@z.example', subject: 'a\r\nBcc: b' }).toString();
    expect(written).not.toMatch(/^Bcc:/m);
  });

  test.each([
    ['words of other programs', 'Disposition: Manual-Action / MDN-Sent-Manually (yes); Displayed/error', 'displayed'],
    ['a modifier list', 'Disposition: automatic-action/MDN-sent-automatically; processed/error,warning', 'processed'],
  ])('%s are understood', (_what, fields, type) => {
    expect(readMdn(receipt(`Final-Recipient: rfc822; a@b.example\n${fields}\nError: no room`))).toMatchObject({
      disposition: { type },
      errors: ['no room'],
    });
  });

  test.each([
    ['a message', wire('From: a@b.example\n\nDisposition: manual-action/MDN-sent-manually; displayed')],
    ['nothing', Buffer.alloc(0)],
    ['a receipt without a recipient', receipt('Disposition: manual-action/MDN-sent-manually; displayed')],
    ['a receipt that says nothing', receipt('Final-Recipient: rfc822; a@b.example\nDisposition: seen')],
    ['half a disposition', receipt('Final-Recipient: rfc822; a@b.example\nDisposition: manual-action; displayed')],
  ])('%s is none', (_what, octets) => {
    expect(readMdn(octets)).toBeUndefined();
  });
});
