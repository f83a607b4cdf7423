import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about the import of addresses from a CSV file. */
export const csv = {
  'csv.about': 'Crea buzones y alias desde un archivo CSV. Verá lo que va a pasar antes de que se cree nada.',
  'csv.hint':
    'Una línea cada uno: dirección,nombre,alias de. Con un tercer campo la dirección pasa a ser un alias de ese buzón. Como máximo {most} filas.',
  'csv.file': 'Archivo CSV',
  'csv.empty': 'No se cambió nada: el archivo no tiene filas. Indique al menos una línea con una dirección.',
  'csv.preview': 'Vista previa',
  'csv.preview-title': 'Vista previa: {mailboxes} y {aliases} por crear, {refused}',
  'csv.created-count': { one: '{count} dirección creada', other: '{count} direcciones creadas' },
  'csv.mailboxes': { one: '{count} buzón', other: '{count} buzones' },
  'csv.aliases': { one: '{count} alias', other: '{count} alias' },
  'csv.refused-count': { one: '{count} fila rechazada', other: '{count} filas rechazadas' },
  'csv.create': { one: 'Crear {count} dirección', other: 'Crear {count} direcciones' },
  'csv.to-create': 'Filas por crear',
  'csv.line': 'Línea',
  'csv.alias-of': '{action} de {address}',
  'csv.refused-rows': 'Filas rechazadas',
  'csv.refused': 'Rechazada',
  'csv.created': 'Creadas',
  'csv.nothing': 'No se creó nada',
  'csv.nothing-text': 'Los motivos están abajo.',
  'csv.all': 'Todos los buzones',

  'csv-row.too-many': 'Un archivo tiene como máximo {value} filas. Ponga esta fila en otro archivo.',
  'csv-row.long': 'La línea tiene más de {value} caracteres.',
  'csv-row.quote': 'Unas comillas no están cerradas, o les sigue texto.',
  'csv-row.fields': 'La línea tiene más de tres campos: dirección, nombre, alias de.',
  'csv-row.address': '«{value}» no es una dirección de correo.',
  'csv-row.twice': 'El archivo tiene esta dirección dos veces.',
  'csv-row.domain': '{value} no es un dominio de esta organización. Añádalo antes.',
  'csv-row.mailbox': 'Un buzón ya tiene esta dirección.',
  'csv-row.alias': 'Un alias ya tiene esta dirección.',
  'csv-row.target': '{value} no es un buzón de esta organización ni de este archivo.',
} satisfies Partial<PortalCatalog>;
