import type { ComponentChild } from 'preact';
import { t } from './translate.ts';
import { html } from './view.ts';

const MAX_SHOWN = 400_000;

/** Shows plain text: addresses become links, quoted text is folded. */
export function PlainText({ text }: { text: string }) {
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}\n[...]` : text;
  return html`<div class="plain-text">
    ${blocksOf(shown).map(({ quoted, lines }) => block(quoted, lines.join('\n')))}
  </div>`;
}

function block(quoted: boolean, text: string): ComponentChild {
  if (!quoted) return html`<p>${withLinks(text)}</p>`;
  return html`<details class="quote">
    <summary>${t('reader.quoted')}</summary>
    <p>${withLinks(text)}</p>
  </details>`;
}

/** Splits text into what its author wrote and what they quote. */
export function blocksOf(text: string): { quoted: boolean; lines: string[] }[] {
  const blocks: { quoted: boolean; lines: string[] }[] = [];
  for (const line of text.replaceAll('\r\n', '\n').trimEnd().split('\n')) {
    const quoted = line.startsWith('>');
    const last = blocks.at(-1);
    if (last !== undefined && last.quoted === quoted) last.lines.push(line);
    else blocks.push({ quoted, lines: [line] });
  }
  return blocks;
}

const ADDRESS = /https?:\/\/[^\s<>"'\u{0}-\u{1f}]{3,2000}/gu;

function withLinks(text: string): ComponentChild[] {
  const parts: ComponentChild[] = [];
  let end = 0;
  for (const found of text.matchAll(ADDRESS)) {
    const href = found[0].replace(/[).,;:!?\]]{1,5}$/, '');
    parts.push(text.slice(end, found.index));
    parts.push(html`<a href=${href} target="_blank" rel="noopener noreferrer">${href}</a>`);
    end = found.index + href.length;
  }
  return [...parts, text.slice(end)];
}
