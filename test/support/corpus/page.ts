import type { Random } from '../random.ts';

/** Layout of an HTML mail; each sender keeps one. */
export interface Page {
  width: number;
  color: string;
  font: string;
  tables: boolean;
  picture: boolean;
  button: boolean;
}

export function newPage(random: Random): Page {
  return {
    width: random.one([480, 560, 600, 640, 700]),
    color: random.one(['#1155cc', '#222222', '#0a7d4f', '#d93025', '#6633aa', '#ff8800']),
    font: random.one(['Arial, sans-serif', 'Helvetica, Arial, sans-serif', 'Georgia, serif', 'Verdana']),
    tables: random.chance(0.6),
    picture: random.chance(0.5),
    button: random.chance(0.6),
  };
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Paragraphs in that layout, with the links as buttons or as they stand. */
export function pageOf(page: Page, paragraphs: readonly string[], link: string, footer: string): string {
  const lines = paragraphs.map((one) => `<p style="font-family:${page.font};color:#333">${linked(escaped(one))}</p>`);
  const picture = page.picture ? `<img src="${new URL('/logo.png', link).href}" width="${page.width / 4}" alt="">` : '';
  const button = page.button
    ? `<a href="${link}" style="background:${page.color};color:#fff;padding:12px">&rarr;</a>`
    : '';
  const inner = `${picture}${lines.join('\n')}${button}<p style="font-size:11px;color:#888">${linked(escaped(footer))}</p>`;
  const framed = page.tables
    ? `<table width="${page.width}" align="center" cellpadding="0"><tr><td>${inner}</td></tr></table>`
    : `<div style="max-width:${page.width}px">${inner}</div>`;
  return `<!DOCTYPE html><html><head><meta charset="utf-8"></head><body>${framed}</body></html>`;
}

function linked(text: string): string {
  return text.replace(/https?:\/\/[^\s<]+/g, (url) => `<a href="${url}">${url}</a>`);
}
