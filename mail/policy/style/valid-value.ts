/** Named colors, without system colors. */
export const COLOR_NAMES =
  `aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood cadetblue
   chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray
   darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
   darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue
   firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew
   hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
   lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
   lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue mediumorchid
   mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred midnightblue mintcream
   mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid palegoldenrod palegreen
   paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple rebeccapurple red rosybrown royalblue
   saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray slategrey snow springgreen
   steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow yellowgreen`.split(/\s+/);
const COLORS = new Set([...COLOR_NAMES, 'canvas', 'canvastext', 'currentcolor', 'transparent']);
const HEXADECIMAL = /^#(?:[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})$/;
const BY_PARTS =
  /^(?:rgba?|hsla?)\([\d.]{1,9}(?:deg)?%?(?:[,/][\d.]{1,9}%?){2,3}\)$|^(?:hwb|lab|lch|oklab|oklch)\([\d.,/%-]{5,60}\)$/;
const OF_ALL = /^(?:inherit|initial|unset|revert)$/;
const LENGTH =
  /^(?:[+-]?(?:\d{1,9}\.?|\d{0,9}\.\d{1,9})(?:px|pt|pc|r?em|ex|ch|in|cm|mm|v[hw]|vmin|vmax|%)|[+-]?0+(?:\.0+)?|auto|none|normal|(?:min|max|fit)-content)$/;

const VALUES: Readonly<Record<string, RegExp>> = {
  display:
    /^(?:none|block|inline|contents|flow-root|list-item|table-[a-z-]{3,20}|(?:inline-)?(?:block|flex|grid|table)|-webkit-(?:inline-)?(?:box|flex))$/,
  visibility: /^(?:visible|hidden|collapse)$/,
  opacity: /^[+-]?(?:\d{1,9}|\d{0,9}\.\d{1,9})%?$/,
  overflow: /^(?:visible|hidden|clip|scroll|auto){1,2}$/,
  'mso-hide': /^(?:all|none|screen)$/,
  'font-size': /^(?:(?:xx?x?-)?(?:small|large)|medium|smaller|larger)$/,
  // A multiple of the font size.
  'line-height': /^\d{1,3}(?:\.\d{1,6})?$/,
};
const LENGTHS =
  /^(?:left|right|top|bottom|margin-left|margin-top|text-indent|(?:max-)?(?:height|width)|font-size|line-height)$/;
const COLORED = /^(?:color|-webkit-text-fill-color|background-color)$/;

/**
 * True if browsers certainly accept this value: an invalid one leaves the previous declaration in force. Lower case, without
 * blanks. Any value is valid for properties that are not checked here.
 */
export function isValidValue(property: string, value: string): boolean {
  if (OF_ALL.test(value)) return true;
  if (COLORED.test(property)) return COLORS.has(value) || HEXADECIMAL.test(value) || BY_PARTS.test(value);
  if (LENGTHS.test(property) && LENGTH.test(value)) return true;
  const known = VALUES[property];
  return known === undefined ? !LENGTHS.test(property) : known.test(value);
}
