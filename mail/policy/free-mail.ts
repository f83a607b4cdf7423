import { registrableDomain } from './registrable.ts';

const PROVIDERS: ReadonlySet<string> = new Set(
  (
    'gmail googlemail outlook hotmail live msn yahoo ymail aol icloud mac proton protonmail pm tutanota tuta gmx web ' +
    'mail inbox bk list yandex rambler qq 163 126 sina naver daum hanmail rediffmail zoho fastmail hushmail ' +
    'mailfence posteo freenet t-online laposte orange wanadoo free libero virgilio tiscali seznam wp onet interia o2'
  ).split(' '),
);
const ENDINGS =
  /^(?:com|net|org|me|de|at|ch|fr|it|es|pt|nl|be|ru|ua|cn|jp|kr|in|cz|pl|eu|co\.(?:uk|jp|in|kr|nz|za)|com\.(?:br|au|mx|ar|cn|tr))$/;

/** True for free mail providers, where anybody can get an address; by name only. */
export function isFreeMailProvider(domain: string): boolean {
  const own = registrableDomain(domain);
  const dot = own.indexOf('.');
  return PROVIDERS.has(own.slice(0, dot)) && ENDINGS.test(own.slice(dot + 1));
}
