import { readdirSync, readFileSync } from 'node:fs';
import cookie from '@fastify/cookie';
import Fastify, { type FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { followLanguageLink } from '../../../src/http/language.ts';
import { html } from '../../../src/portal/html.ts';
import type { PortalCatalog, PortalKey } from '../../../src/portal/message-types.ts';
import { PAGES } from '../../../src/portal/pages/index.ts';
import { portalRoutes } from '../../../src/portal/routes.ts';
import { PORTAL_CATALOGS, translatorFor } from '../../../src/portal/translator.ts';
import { unsubscribeRoutes } from '../../../src/portal/unsubscribe-routes.ts';
import { PEOPLE_TEST_COMMANDS } from '../../support/people.ts';
import { testWorld, type TestWorld } from '../../support/world.ts';

const { en: english, de: german, es: spanish } = PORTAL_CATALOGS;
const KEYS = Object.keys(english) as PortalKey[];
const TRANSLATED: [string, PortalCatalog][] = [
  ['de', german],
  ['es', spanish],
];
const formsOf = (message: PortalCatalog[PortalKey]): string[] =>
  typeof message === 'string' ? [message] : Object.values(message);
const placeholders = (text: string): string[] => (text.match(/\{\w+\}/g) ?? []).toSorted();
const withoutCount = (names: readonly string[]): string[] => names.filter((name) => name !== '{count}');

const PORTAL = new URL('../../../src/portal/', import.meta.url);
const WEB_MAIL = new URL('../../../src/webmail/', import.meta.url);
const sourcesOf = (folder: URL): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^(?:languages|client)\//.test(name))
    .map((name) => readFileSync(new URL(name, folder), 'utf8'));

describe('the messages of the portal', () => {
  test.each(TRANSLATED)('%s has every message of English and no other', (_, catalog) => {
    expect(Object.keys(catalog)).toEqual(KEYS);
  });

  test.each(TRANSLATED)(
    '%s has the values of English in each message; a form for one may go without its number',
    (_, catalog) => {
      for (const key of KEYS) {
        const [wanted, translated] = [english[key], catalog[key]];
        const whole = placeholders(typeof wanted === 'string' ? wanted : wanted.other);
        const own = typeof translated === 'string' ? translated : translated.other;
        expect([key, placeholders(own)]).toEqual([key, whole]);
        for (const form of formsOf(translated)) {
          expect([key, withoutCount(placeholders(form))]).toEqual([key, withoutCount(whole)]);
        }
      }
    },
  );

  test.each(TRANSLATED)('%s is translated: sentences differ from English', (_, catalog) => {
    const same = KEYS.filter((key) => {
      const message = english[key];
      return typeof message === 'string' && message.split(' ').length > 2 && catalog[key] === message;
    });
    expect(same).toEqual([]);
  });

  test.each(Object.entries(PORTAL_CATALOGS))('%s has text only, no markup', (_, catalog) => {
    const marked = KEYS.filter((key) => formsOf(catalog[key]).some((text) => /[<>&`]|\$\{/.test(text)));
    expect(marked).toEqual([]);
  });

  test('address people formally in German and Spanish', () => {
    const informal = /\b(?:du|dein\w*|dir|dich|tu|tus|tuyo|tuya|contigo|puedes|tienes)\b/i;
    const found = TRANSLATED.flatMap(([, catalog]) =>
      KEYS.filter((key) => formsOf(catalog[key]).some((text) => informal.test(text))),
    );
    expect(found).toEqual([]);
  });

  test('are all used', () => {
    const all = [...sourcesOf(PORTAL), ...sourcesOf(WEB_MAIL)].join('\n');
    const families = [...all.matchAll(/t(?:\.rich|Of\([^)]*\))?\(`([\w.-]+)\$\{/g)].map(([, start = '']) => start);
    const unused = KEYS.filter((key) => !all.includes(`'${key}'`) && !families.some((start) => key.startsWith(start)));
    expect(families.length).toBeGreaterThan(3);
    expect(unused).toEqual([]);
  });
});

test('every page of an organization and of the operator is translated, with its notices', () => {
  expect(PAGES.filter((page) => page.translated !== true).map((page) => page.name)).toEqual([]);
  const english = PAGES.flatMap(({ name, notices }) =>
    Object.values(notices).flatMap((notice) => (typeof notice === 'string' ? [`${name}: ${notice}`] : [])),
  );
  expect(english).toEqual([]);
});

describe('a translator', () => {
  test('chooses the plural form and writes numbers as the language does', () => {
    expect(translatorFor('en')('field.password-short', { count: 1 })).toBe('Use at least 1 character.');
    expect(translatorFor('es')('field.password-short', { count: 12 })).toBe('Use al menos 12 caracteres.');
    expect(translatorFor('de')('field.password-long', { count: 2000 })).toContain('2.000 Zeichen');
    expect(translatorFor('de').wait(60)).toBe('60 Sekunden');
    expect(translatorFor('es').wait(120)).toBe('2 minutos');
  });

  test('gives values to templates, which escape them, and keeps markup of templates', () => {
    const t = translatorFor('de');
    const named = t.rich('step.as', { address: '<script>' });
    expect(html`<p>${named}</p>`.text).toBe('<p>Anmeldung als &lt;script&gt;.</p>');
    const strong = t.rich('step.as', { address: html`<strong>${'a&b'}</strong>` });
    expect(html`${strong}`.text).toBe('Anmeldung als <strong>a&amp;b</strong>.');
    expect(html`${t('provider.sign-in', { provider: '"><b>' })}`.text).toBe('Mit &quot;&gt;&lt;b&gt; anmelden');
  });

  test('marks what the server says in English, except on an English page', () => {
    expect(html`${translatorFor('es').english('Held <now>.')}`.text).toBe('<span lang="en">Held &lt;now&gt;.</span>');
    expect(html`${translatorFor('en').english('Held.')}`.text).toBe('Held.');
  });
});

describe('a page', () => {
  let box: TestWorld;
  let app: FastifyInstance;
  beforeAll(async () => {
    box = await testWorld({}, PEOPLE_TEST_COMMANDS);
    app = Fastify();
    await app.register(portalRoutes(box.world));
    await app.register(unsubscribeRoutes(box.world));
  });
  afterAll(async () => {
    await app.close();
    await box[Symbol.asyncDispose]();
  });
  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers });
  const accepting = (language: string) => ({ 'accept-language': language });

  test.each([
    ['de-CH,en;q=0.5', 'de', 'Anmelden'],
    ['fr, es;q=0.7, en;q=0.5', 'es', 'Iniciar sesión'],
    ['fr', 'en', 'Sign in'],
    ['*', 'en', 'Sign in'],
  ])('is in the first language of %s that there is: %s', async (header, language, title) => {
    const { body, headers } = await get('/login', accepting(header));
    expect(body).toContain(`<html lang="${language}">`);
    expect(body).toContain(`<h1>${title}</h1>`);
    // Chosen by a header and a cookie: no shared cache may keep it.
    expect(headers['cache-control']).toBe('no-store');
  });

  test('is English without a header, and its cookie decides before the header', async () => {
    expect((await get('/login')).body).toContain('<html lang="en">');
    const chosen = await get('/login', { cookie: 'mailstead-language=es', ...accepting('de') });
    expect(chosen.body).toContain('<html lang="es">');
    const unknown = await get('/login', { cookie: 'mailstead-language=xx', ...accepting('de') });
    expect(unknown.body).toContain('<html lang="de">');
  });

  test('behind a link in an email is in the language of its reader, errors too', async () => {
    expect((await get('/auth/invite?token=x', accepting('de'))).body).toContain('Ungültiger Link');
    expect((await get('/unsubscribe/x', accepting('es'))).body).toContain('Enlace no válido');
    expect((await get('/o/org_1', accepting('de'))).statusCode).toBe(303);
    expect((await get('/unsubscribe/x', { cookie: 'mailstead-language=de' })).body).toContain('Ungültiger Link');
  });

  test('has links to the others that set the cookie of all pages and lead back to it', async () => {
    const { body } = await get('/login?next=%2Faccount', accepting('de'));
    expect(body).toContain('href="/login?next=%2Faccount&amp;language=es"');
    const followed = await get('/login?next=%2Faccount&language=es');
    expect([followed.statusCode, followed.headers['location']]).toEqual([303, '/login?next=%2Faccount']);
    expect(followed.headers['cache-control']).toBe('no-store');
    expect(followed.cookies).toContainEqual(
      expect.objectContaining({ name: 'mailstead-language', value: 'es', path: '/', httpOnly: true, sameSite: 'Lax' }),
    );
    const back = await get('/login?language=', { cookie: 'mailstead-language=es' });
    expect(back.cookies).toContainEqual(expect.objectContaining({ name: 'mailstead-language', value: '', path: '/' }));
  });

  test.each([
    ['//evil.test/x?language=de', '/evil.test/x'],
    ['/a?b=1&language=de&c=//evil.test', '/a?b=1&c=//evil.test'],
    ['/a?language=de&language=xx', '/a'],
    // Written otherwise it is no choice: a redirect to itself would never end.
    ['/a?%6Canguage=de', undefined],
  ])('never leads to another site by its language: %s', async (url, target) => {
    const anywhere = Fastify();
    await anywhere.register(cookie);
    anywhere.addHook('onRequest', followLanguageLink);
    anywhere.get('/*', async () => 'page');
    const { headers } = await anywhere.inject({ method: 'GET', url });
    expect(headers['location']).toBe(target);
    await anywhere.close();
  });

  test('that answers a form has no links to languages: what the form had would be lost', async () => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' };
    const payload = new URLSearchParams({ email: 'a@x.test', password: 'wrong' }).toString();
    const { body, statusCode } = await app.inject({
      method: 'POST',
      url: '/login',
      headers: { ...headers, ...accepting('de') },
      payload,
    });
    expect([statusCode, body.includes('language=')]).toEqual([422, false]);
    expect(body).toContain('Adresse oder Passwort ist falsch.');
  });
});
