import htm from 'htm';
import { type ComponentChild, h } from 'preact';

/** Renders markup with Preact: html`<p class=${name}>${text}</p>`. Text is never parsed as markup. */
export const html = htm.bind(h) as unknown as (strings: TemplateStringsArray, ...values: unknown[]) => ComponentChild;
