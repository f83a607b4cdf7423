import DOMPurify from 'dompurify';
import { withoutMarks } from './format.ts';

/** Elements that the frame never shows: they submit, load, play, or change the document. Their text stays. */
const FORBIDDEN = (
  'form input button select textarea option optgroup datalist fieldset dialog label video audio source track picture map area ' +
  'template slot marquee nobr meta link base title iframe object embed frame frameset noscript'
).split(' ');
const FORBIDDEN_ATTRIBUTES = [
  'srcset',
  'poster',
  'background',
  'ping',
  'usemap',
  'autofocus',
  'contenteditable',
  'popover',
];

/** Addresses with one of these schemes, and values without any: DOMPurify tests widths, colors and alignments as well. */
const ALLOWED_VALUE = /^(?:(?:https?|mailto|cid|data):|[^a-z]|[a-z+.-]{1,200}(?:[^a-z+.:-]|$))/i;

/** Address of the proxy, which the frame may load from. */
const PROXY = '/mail/image?url=';

export interface SafeContent {
  /** Nodes for the body of the frame; images have no source yet. */
  nodes: Node[];
  /** Style sheets of the message, without addresses. */
  styles: string;
  /** Images on other servers that the message wants to load. */
  remote: HTMLImageElement[];
  /** Images that are parts of the message, by Content-ID. */
  inline: { image: HTMLImageElement; cid: string }[];
}

let parser: Promise<Window> | undefined;

/** The window of a hidden document whose policy allows the styles that the parser meets; the application's does not. */
export function parserWindow(): Promise<Window> {
  parser ??= new Promise((resolve) => {
    const frame = document.createElement('iframe');
    frame.hidden = true;
    frame.src = '/mail/parser';
    frame.addEventListener('load', () => resolve(frame.contentWindow as Window));
    document.body.append(frame);
  });
  return parser;
}

/** Sanitizes the HTML of a message. Nothing of it has run or loaded: DOMPurify works in an inert document. */
export async function sanitizeMessage(text: string): Promise<SafeContent> {
  const frame = await parserWindow();
  const purifier = DOMPurify(frame as never);
  const content: SafeContent = { nodes: [], styles: '', remote: [], inline: [] };
  purifier.addHook('afterSanitizeAttributes', (node) => {
    if ('tagName' in node) secureElement(node, content);
  });
  const root = purifier.sanitize(text, {
    USE_PROFILES: { html: true },
    FORBID_TAGS: FORBIDDEN,
    FORBID_ATTR: FORBIDDEN_ATTRIBUTES,
    ALLOWED_URI_REGEXP: ALLOWED_VALUE,
    SANITIZE_NAMED_PROPS: true,
    WHOLE_DOCUMENT: true,
    RETURN_DOM: true,
  }) as HTMLElement;
  for (const sheet of root.querySelectorAll('style')) {
    content.styles += `${withoutAddresses(sheet.textContent ?? '')}\n`;
    sheet.remove();
  }
  const body = root.querySelector('body');
  content.nodes = [bodyBox(body, body?.ownerDocument ?? frame.document)];
  return content;
}

/** A block with the colors of the message's body element; in its inert document, as an image in a live one would load. */
function bodyBox(body: HTMLElement | null, owner: Document): HTMLElement {
  const box = owner.createElement('div');
  if (body === null) return box;
  const color = body.getAttribute('bgcolor');
  const style = `${body.getAttribute('style') ?? ''};${color === null ? '' : `background-color:${color}`}`;
  // The color is a stranger's text too: it may go on with another declaration, whose address the proxy would load.
  box.setAttribute('style', withoutAddresses(style));
  box.append(...body.childNodes);
  return box;
}

function secureElement(element: Element, content: SafeContent): void {
  const style = element.getAttribute('style');
  if (style !== null) element.setAttribute('style', withoutAddresses(style));
  if (element.tagName === 'IMG') secureImage(element as HTMLImageElement, content);
  else element.removeAttribute('src');
  if (element.tagName === 'A') secureLink(element);
}

/** CSS without url(), image-set() and @import: style sheets load nothing. Escapes in names are removed as well. */
export function withoutAddresses(css: string): string {
  return css
    .replaceAll('\\', '')
    .replaceAll(/@import|@font-face|@namespace/gi, '@removed')
    .replaceAll(/\b(?:url|image-set|image|cross-fade|element|src|expression)\s*\(/gi, 'none(');
}

function secureImage(image: HTMLImageElement, { remote, inline }: SafeContent): void {
  const source = image.getAttribute('src') ?? '';
  image.removeAttribute('src');
  if (/^data:image\/(?:png|jpe?g|gif|webp|bmp);base64,/i.test(source)) image.setAttribute('src', source);
  else if (/^cid:/i.test(source)) inline.push({ image, cid: decoded(source.slice(4)) });
  else if (/^https?:\/\//i.test(source)) {
    image.dataset['source'] = source;
    remote.push(image);
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function secureLink(link: Element): void {
  const href = link.getAttribute('href') ?? '';
  if (!/^(?:https?:\/\/|mailto:)/i.test(href)) link.removeAttribute('href');
  else {
    link.setAttribute('target', '_blank');
    link.setAttribute('rel', 'noopener noreferrer nofollow');
    link.setAttribute('title', href.slice(0, 300));
  }
}

/** Lets the remote images load through the proxy. */
export function loadRemote(images: readonly HTMLImageElement[]): void {
  for (const image of images) {
    const { source } = image.dataset;
    if (source !== undefined) image.src = `${PROXY}${encodeURIComponent(source)}`;
  }
}

/** True when the visible text of a link names another host than it leads to. */
export function isMisleading(text: string, href: string): boolean {
  if (!URL.canParse(href)) return true;
  const { hostname } = new URL(href);
  // Compatibility forms of letters and dots look the same; marks that nobody sees break a name up.
  const seen = withoutMarks(text.slice(0, 2_000).normalize('NFKC')).replaceAll('\u3002', '.');
  const [named] = /(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}/i.exec(seen) ?? [];
  return named !== undefined && !`.${hostname}`.endsWith(`.${named.toLowerCase().replace(/^www\./, '')}`);
}
