import { createTransport } from 'nodemailer';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Box, startBox } from '../support/box.ts';
import { violations } from './axe.ts';
import { openBrowser, watchedPage } from './chromium.ts';

let box: Box;
let base: string;
let browser: Browser;

beforeAll(async () => {
  box = await startBox({ settings: { EXEMPT_NETWORKS: '127.0.0.0/8' } });
  base = `http://127.0.0.1:${box.port('http')}`;
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await box?.[Symbol.asyncDispose]();
});

interface Invitation {
  uid: string;
  subject: string;
  method?: string;
  sequence?: number;
  /** Message that this one follows. */
  after?: string;
  organizer?: string;
}

/** Delivers an invitation for nine to ten in Berlin. */
async function deliver(invitation: Invitation): Promise<void> {
  const { uid, subject, method = 'REQUEST', sequence = 0, after, organizer = 'ada@partner.test' } = invitation;
  const content = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    `METHOD:${method}`,
    'BEGIN:VEVENT',
    `UID:${uid}@partner.test`,
    `SEQUENCE:${sequence}`,
    `DTSTAMP:2026110${sequence + 1}T000000Z`,
    'DTSTART;TZID=Europe/Berlin:20270112T090000',
    'DTEND;TZID=Europe/Berlin:20270112T100000',
    'RRULE:FREQ=WEEKLY;BYDAY=TU;COUNT=4',
    `SUMMARY:${subject}`,
    'LOCATION:Engine room',
    `ORGANIZER;CN=Ada Lovelace:mailto:${organizer}`,
    `ATTENDEE;RSVP=TRUE;PARTSTAT=NEEDS-ACTION:mailto:${box.address}`,
    'END:VEVENT',
    'END:VCALENDAR',
    '',
  ].join('\r\n');
  const transport = createTransport({ host: '127.0.0.1', port: box.port('smtp'), secure: false, ignoreTLS: true });
  await transport.sendMail({
    to: box.address,
    from: 'Ada Lovelace <ada@partner.test>',
    subject,
    text: 'Please come.',
    messageId: `<${uid}-${sequence}@partner.test>`,
    ...(after !== undefined && { references: `<${after}@partner.test>`, inReplyTo: `<${after}@partner.test>` }),
    icalEvent: { method, content },
  });
  transport.close();
}

async function openMail(page: Page, subject: string): Promise<void> {
  await page.goto(`${base}/mail`);
  await page.locator('input[type=email]').fill(box.address);
  await page.locator('input[type=password]').fill(box.password);
  await page.locator('form button').click();
  await page.locator('.row a', { hasText: subject }).first().click();
  await page.locator('.invitation').first().waitFor();
}

/** The calendar part of the mail with this subject, and its recipients, as it is stored. */
async function sentCalendar(page: Page, subject: string): Promise<string> {
  return (await page.evaluate(`(async () => {
    const { accounts } = await (await fetch('/mail/jmap/session')).json();
    const accountId = Object.keys(accounts)[0];
    const using = ['urn:ietf:params:jmap:core', 'urn:ietf:params:jmap:mail'];
    const ask = async (...methodCalls) => {
      const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ using, methodCalls }) };
      return (await (await fetch('/mail/jmap/api', init)).json()).methodResponses;
    };
    const properties = ['subject', 'from', 'to', 'keywords', 'attachments', 'inReplyTo'];
    const answers = await ask(
      ['Email/query', { accountId, filter: { subject: ${JSON.stringify(subject)} } }, '0'],
      ['Email/get', { accountId, '#ids': { resultOf: '0', name: 'Email/query', path: '/ids' }, properties, bodyProperties: ['blobId', 'type', 'header:Content-Type'] }, '1'],
    );
    const mail = answers[1][1].list.find((one) => one.subject === ${JSON.stringify(subject)});
    if (mail === undefined) return '';
    const [part] = mail.attachments;
    const text = await (await fetch('/mail/jmap/download/' + accountId + '/' + part.blobId + '/x?accept=text/calendar')).text();
    return JSON.stringify({ ...mail, attachments: undefined, id: undefined, type: part['header:Content-Type'] }) + text.replaceAll('\\r\\n ', '');
  })()`)) as string;
}

const DESKTOP = { width: 1280, height: 860 };
const PHONE = { width: 390, height: 844 };

describe.each([
  {
    where: 'on a desktop in London',
    options: { viewport: DESKTOP, locale: 'en-GB', timezoneId: 'Europe/London' },
    time: /Tuesday,? 12 January 2027.*08:00.*09:00 GMT/,
    repeats: 'Every week on Tuesday, 4 times.',
    accept: 'Accept',
    accepted: 'You accepted.',
    subject: 'Accepted: ',
    undo: 'Undo',
  },
  {
    where: 'on a phone in Vienna, in German and dark',
    options: { viewport: PHONE, locale: 'de-AT', timezoneId: 'Europe/Vienna', colorScheme: 'dark' as const },
    time: /Dienstag, 12\. Jänner 2027.*09:00.*10:00 .*MEZ/,
    repeats: 'Jede Woche am Dienstag, 4-mal.',
    accept: 'Zusagen',
    accepted: 'Sie haben zugesagt.',
    subject: 'Zugesagt: ',
    undo: 'Rückgängig',
  },
  {
    where: 'on a phone in Mexico City, in Spanish',
    options: { viewport: PHONE, locale: 'es-MX', timezoneId: 'America/Mexico_City' },
    time: /martes,? 12 de enero de 2027.*0?2:00.*0?3:00.*(?:CST|GMT-6)/,
    repeats: 'Cada semana: martes, 4 veces.',
    accept: 'Aceptar',
    accepted: 'Has aceptado.',
    subject: 'Aceptada: ',
    undo: 'Deshacer',
  },
])('an invitation $where', ({ where, options, time, repeats, accept, accepted, subject, undo }) => {
  test('is shown in the time of its reader, accepted by the keyboard, and taken back', async () => {
    const { page, context, wrong } = await watchedPage(browser, base, { ...options, reducedMotion: 'reduce' });
    const uid = `loom-${where.length}`;
    await deliver({ uid, subject: `Loom ${uid}` });
    await openMail(page, `Loom ${uid}`);
    const card = page.locator('.invitation');
    await card.getByText(time).waitFor();
    await card.getByText(repeats).waitFor();
    await card.getByText('Engine room').waitFor();
    await card.getByText('ada@partner.test').waitFor();
    expect(await violations(page)).toEqual([]);
    await card.getByRole('button', { name: accept, exact: true }).focus();
    await page.keyboard.press('Enter');
    await card.getByText(accepted).waitFor();
    await expect.poll(() => card.getByRole('button', { pressed: true }).textContent()).toContain(accept);
    expect(await violations(page)).toEqual([]);
    const sent = await sentCalendar(page, `${subject}Loom ${uid}`);
    expect(sent).toContain('"to":[{"name":null,"email":"ada@partner.test"}]');
    expect(sent).toContain(`"email":"${box.address}"`);
    expect(sent).toContain(`"inReplyTo":["${uid}-0@partner.test"]`);
    expect(sent).toMatch(/text\/calendar;.*method=\\?"?REPLY/s);
    expect(sent).toMatch(new RegExp(`ATTENDEE;(?:CN=[^;]*;)?PARTSTAT=ACCEPTED:mailto:${box.address}\\r\\n`));
    expect(sent).toContain(`UID:${uid}@partner.test`);
    await page.getByRole('status').getByRole('button', { name: undo }).click();
    await card.getByText(accepted).waitFor({ state: 'detached' });
    await expect.poll(() => sentCalendar(page, `${subject}Loom ${uid}`)).toBe('');
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    expect(wrong).toEqual([]);
    await context.close();
  });
});

describe('an invitation that changes', () => {
  test('cannot be answered where a newer message replaces or cancels it', async () => {
    const { page, context, wrong } = await watchedPage(browser, base, { viewport: DESKTOP });
    await deliver({ uid: 'moved', subject: 'Moved loom' });
    await deliver({ uid: 'moved', subject: 'Moved loom', sequence: 1, after: 'moved-0' });
    await openMail(page, 'Moved loom');
    await page.getByText('Updated invitation').waitFor();
    await page.getByText('A newer message in this conversation replaces this invitation.').waitFor();
    expect(await page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(1);
    await deliver({ uid: 'moved', subject: 'Moved loom', sequence: 2, after: 'moved-0', method: 'CANCEL' });
    // It arrives folded.
    await page.getByText('The event does not take place. It needs no answer.').first().waitFor();
    await page.getByRole('article').last().locator('.fold').click();
    await page.getByText('Cancelled event').waitFor();
    await expect.poll(() => page.getByRole('button', { name: 'Accept', exact: true }).count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    expect(wrong).toEqual([]);
    await context.close();
  });

  test('from somebody else than the organizer says where the answer goes', async () => {
    const { page, context } = await watchedPage(browser, base, { viewport: PHONE });
    await deliver({ uid: 'other', subject: 'Other loom', organizer: 'victim@bank.test' });
    await openMail(page, 'Other loom');
    await page
      .getByText('The message is from ada@partner.test, not from the organizer. An answer goes to victim@bank.test.')
      .waitFor();
    expect(await violations(page)).toEqual([]);
    await context.close();
  });
});
