import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Languages of web mail, the fallback first. */
export const LANGUAGES = ['en', 'de', 'es'] as const;
export type MailLanguage = (typeof LANGUAGES)[number];

const COOKIE = 'mailstead-language';
const MAX_HEADER = 1000;
const YEAR_S = 365 * 24 * 60 * 60;

const isLanguage = (text: string): text is MailLanguage => (LANGUAGES as readonly string[]).includes(text);

/** The language that this browser was set to; undefined: it follows the browser's own. */
export function languageChoice({ cookies }: FastifyRequest): MailLanguage | undefined {
  const chosen = cookies[COOKIE] ?? '';
  return isLanguage(chosen) ? chosen : undefined;
}

/** The language of a page: the chosen one, else the first of the browser's that there is, else English. */
export function languageOf(request: FastifyRequest): MailLanguage {
  return languageChoice(request) ?? acceptedLanguage(request.headers['accept-language'] ?? '');
}

/** Chooses by Accept-Language. RFC 9110 12.5.4, by the first subtag of each range. Linear. */
export function acceptedLanguage(header: string): MailLanguage {
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
    const chosen = typeof language === 'string' && isLanguage(language) ? language : undefined;
    setLanguage(request, reply, chosen);
    return reply.header('cache-control', 'no-store').send({ language: chosen ?? null });
  });
}

function setLanguage(request: FastifyRequest, reply: FastifyReply, chosen: MailLanguage | undefined): void {
  const secure = request.protocol === 'https';
  const options = { path: '/mail', httpOnly: true, sameSite: 'lax', secure } as const;
  if (chosen === undefined) void reply.clearCookie(COOKIE, options);
  else void reply.setCookie(COOKIE, chosen, { ...options, maxAge: YEAR_S });
}
