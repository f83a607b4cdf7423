import { expect, test } from 'vitest';
import { SecretLinkForms } from '../../../mail/message/secret-link.ts';
import { secretLinksOf, SECRET_PAGES, secretUrl } from '../../../src/notices/secret-pages.ts';

const PAGES = Object.keys(SECRET_PAGES) as (keyof typeof SECRET_PAGES)[];
const token = '0123456789abcdef'.repeat(3);

test.each([
  'https://mail.box.test',
  'https://Portal.box.test:8443',
  'https://box.test/mail',
  'http://[2001:db8::1]:8080',
  'https://b\u00fccher.test',
])('links under %s are known again', (given) => {
  // As the settings read it.
  const baseUrl = new URL(given).href.replace(/\/+$/, '');
  const forms = new SecretLinkForms(secretLinksOf({ hostname: 'mx.box.test', baseUrl, live: true }));
  for (const page of PAGES) {
    const url = secretUrl(() => baseUrl, page, { token });
    expect(forms.mayBeIn(Buffer.from(url)) && forms.in(url), url).toBe(true);
    const direct = secretUrl(() => 'https://mx.box.test', page, { token });
    expect(forms.in(direct), direct).toBe(true);
  }
});
