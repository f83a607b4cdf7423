import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Languages of the pages and of web mail, the fallback first. */
export const LANGUAGES = ['en', 'de', 'es'] as const;
export type PageLanguage = (typeof LANGUAGES)[number];

const COOKIE = 'mailstead-language';
/** Path of the cookie in versions whose portal had one language. Browsers send the cookie of the longer path first. */
const FORMER_PATH = '/mail';
/** Beginning of the parameter of a link that chooses a language. */
const PARAMETER = 'language=';
const MAX_HEADER = 1000;
const YEAR_S = 365 * 24 * 60 * 60;

const isLanguage = (text: string): text is PageLanguage => (LANGUAGES as readonly string[]).includes(text);

/** The language that this browser was set to; undefined: it follows the browser's own. */
export function languageChoice({ cookies }: FastifyRequest): PageLanguage | undefined {
  const chosen = cookies?.[COOKIE] ?? '';
  return isLanguage(chosen) ? chosen : undefined;
}

/** The language of a page: the chosen one, else the first of the browser's that there is, else English. */
export function languageOf(request: FastifyRequest): PageLanguage {
  return languageChoice(request) ?? acceptedLanguage(request.headers['accept-language'] ?? '');
}

/** Chooses by Accept-Language. RFC 9110 12.5.4, by the first subtag of each range. Linear. */
export function acceptedLanguage(header: string): PageLanguage {
  const ranges = header.slice(0, MAX_HEADER).toLowerCase().split(',').map(parseRange);
  const best = ranges.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  return best.map(({ base }) => base).find(isLanguage) ?? 'en';
}

function parseRange(text: string): { base: string; weight: number } {
  const [range = '', ...parameters] = text.split(';').map((one) => one.trim());
  const quality = parameters.find((one) => one.startsWith('q='));
  const weight = quality === undefined ? 1 : Number(quality.slice(2));
  return { base: range.split('-', 1)[0] ?? '', weight: Number.isFinite(weight) ? weight : 0 };
}

/** `POST /mail/language`: remembers the language in this browser; an empty one follows the browser again. */
export function languageRoute(app: FastifyInstance): void {
  app.post('/mail/language', async (request, reply) => {
    const { language } = (request.body ?? {}) as { language?: unknown };
    const chosen = chosenBy(language);
    setLanguage(request, reply, chosen);
    return reply.header('cache-control', 'no-store').send({ language: chosen ?? null });
  });
}

/**
 * Follows a link of {@link languageLink}: remembers its language and redirects to the same page without it. Reading a page may
 * set this cookie, because it changes words only: a link of another site can do no more than show a person another language.
 */
export async function followLanguageLink(
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply | undefined> {
  const choice = request.method === 'GET' ? queryOf(request).find(isChoice) : undefined;
  if (choice === undefined) return undefined;
  setLanguage(request, reply, chosenBy(choice.slice(PARAMETER.length)));
  void reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  return reply.redirect(withoutChoice(request), 303);
}

/**
 * Link that shows the page of a request in a language; undefined: in the browser's. Undefined for the answer to a form: what the
 * form had would be lost with it.
 */
export function languageLink(request: FastifyRequest, language: PageLanguage | undefined): string | undefined {
  if (request.method !== 'GET') return undefined;
  const page = withoutChoice(request);
  return `${page}${page.includes('?') ? '&' : '?'}language=${language ?? ''}`;
}

/** Path and query of a page, without a choice of a language. Never another host: the request line may be absolute. */
function withoutChoice(request: FastifyRequest): string {
  const [path = ''] = request.url.split('?', 1);
  const rest = queryOf(request).filter((one) => one !== '' && !isChoice(one));
  const own = path.startsWith('/') ? path.replace(/^\/[/\\]+/, '/') : '/';
  return rest.length === 0 ? own : `${own}?${rest.join('&')}`;
}

/** As the request has them: what was found is what is left out, so no URL redirects to itself. */
function queryOf({ url }: FastifyRequest): string[] {
  const [, ...query] = url.split('?');
  return query.join('?').split('&');
}

const isChoice = (parameter: string): boolean => parameter.startsWith(PARAMETER);

function chosenBy(given: unknown): PageLanguage | undefined {
  return typeof given === 'string' && isLanguage(given) ? given : undefined;
}

function setLanguage(request: FastifyRequest, reply: FastifyReply, chosen: PageLanguage | undefined): void {
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure: request.protocol === 'https' } as const;
  void reply.clearCookie(COOKIE, { ...options, path: FORMER_PATH });
  if (chosen === undefined) void reply.clearCookie(COOKIE, options);
  else void reply.setCookie(COOKIE, chosen, { ...options, maxAge: YEAR_S });
}
