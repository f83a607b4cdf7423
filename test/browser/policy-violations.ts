import type { Browser } from 'playwright-core';

/** Reports of pages in this process: a place, and the words of the browser. */
const reported: string[] = [];
const meant: RegExp[] = [];

/**
 * Chromium reports each event handler that it parses, even into a document that can run nothing, by the policy of the window
 * that parses: the one of /mail/parser. In the frame that shows a message, the sandbox would be named.
 */
export const INERT_PARSER = /Executing inline event handler violates .{1,60} 'default-src 'none''/;
/** A page that another site shows in a frame. */
export const FRAMED = /Framing '.*' violates .* "frame-ancestors 'none'"/;

/** Remembers each violation of a Content-Security-Policy that a page of the browser reports. */
export function watchPolicies(browser: Browser): void {
  browser.on('context', (context) => {
    context.on('console', (line) => {
      if (line.text().includes('Content Security Policy'))
        reported.push(`${line.location().url.slice(0, 300)} ${line.text().slice(0, 500)}`);
    });
  });
}

/** Reports that the tests of a file cause on purpose, by an attack of their own. Each has to come. */
export function causesViolations(...patterns: readonly RegExp[]): void {
  meant.push(...patterns);
}

/** Reports that no test meant to cause, and what was meant and did not come. */
export function wrongReports(): unknown[] {
  const missing = meant.filter((pattern) => !reported.some((one) => pattern.test(one)));
  return [...reported.filter((one) => !meant.some((pattern) => pattern.test(one))), ...missing];
}
