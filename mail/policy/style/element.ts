import type { HtmlTag } from '../html-tags.ts';

/** An element with the properties that selectors match. */
export interface StyledElement {
  name: string;
  id: string;
  classes: ReadonlySet<string>;
  attributes: HtmlTag['attributes'];
}
