import type { AssetSet } from './asset.ts';
import type { PageLanguage } from '../http/language.ts';

/** The icon of the installed application. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><rect width="512" height="512" rx="112" fill="#0f6b52"/><g transform="translate(96 96) scale(13.3)" fill="none" stroke="#fff" stroke-width="1.7" stroke-linejoin="round"><path d="M3 10.5 12 4l9 6.5V20H3z"/><path d="m3 10.5 9 5.5 9-5.5"/></g></svg>`;

/** Web app manifest: browsers offer to install web mail. */
export const MANIFEST = JSON.stringify({
  name: 'Mailstead Mail',
  short_name: 'Mail',
  start_url: '/mail',
  scope: '/mail',
  display: 'standalone',
  background_color: '#fbfaf7',
  theme_color: '#0f6b52',
  icons: [{ src: '/mail/icon.svg', sizes: 'any', type: 'image/svg+xml', purpose: 'any' }],
  shortcuts: [{ name: 'Write a message', url: '/mail#/compose' }],
});

/** The service worker caches the files of the application, which have no mail in them. Mail and pages are never cached. */
export function serviceWorker({ base, filesOf }: AssetSet, language: PageLanguage): string {
  const paths = JSON.stringify(filesOf(language).map((path) => `${base}${path}`));
  return `const NAME = ${JSON.stringify(base)};
const PATHS = ${paths};
self.addEventListener('install', (event) => {
  // Browsers that know routes start no worker for a page, nor for a file that is in the cache.
  const asset = { condition: { urlPattern: NAME + '*', requestMethod: 'GET' }, source: { cacheName: NAME } };
  event.addRoutes?.([asset, { condition: { urlPattern: '/*' }, source: 'network' }])?.catch?.(() => {});
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(PATHS)).then(() => self.skipWaiting()));
});
self.addEventListener('activate', (event) => {
  const old = (names) => Promise.all(names.filter((name) => name !== NAME).map((name) => caches.delete(name)));
  event.waitUntil(caches.keys().then(old).then(() => self.clients.claim()));
});
self.addEventListener('fetch', (event) => {
  const { pathname } = new URL(event.request.url);
  if (event.request.method !== 'GET' || !pathname.startsWith(NAME)) return;
  event.respondWith(caches.match(event.request).then((found) => found ?? fetch(event.request)));
});
`;
}
