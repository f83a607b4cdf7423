import type { PortalCatalog } from '../../message-types.ts';

/** Messages in Spanish about retention and legal holds. */
export const retention = {
  'retention.saved': 'Conservación guardada.',
  'retention.ruled': 'Regla de carpeta guardada.',
  'retention.unruled': 'Regla de carpeta quitada.',
  'retention.held': 'Buzón puesto en retención legal.',
  'retention.lifted': 'Retención legal levantada.',
  'retention.about': 'Cuándo se elimina el correo definitivamente, y qué buzones están en retención legal.',

  'retention.schedule': 'Plazos',
  'retention.schedule-about':
    'Un mensaje que salió de su carpeta se puede restaurar en la página «Eliminados» de su buzón hasta su eliminación definitiva.',
  'retention.messages': 'Mensajes',
  'retention.leave': 'Salen de la carpeta',
  'retention.purged': 'Eliminación definitiva',
  'retention.deleted': 'Eliminados por una persona o un programa',
  'retention.at-once': 'De inmediato',
  'retention.never': 'Nunca',
  'retention.after': { one: 'Después de {count} día', other: 'Después de {count} días' },
  'retention.after-there': { one: 'Después de {count} día allí', other: 'Después de {count} días allí' },
  'retention.in-trash': 'En la papelera',
  'retention.in-junk': 'En «Correo no deseado»',
  'retention.in-folder': 'En {folder}',
  'retention.remove-rule': 'Quitar regla',

  'retention.periods': 'Períodos de conservación',
  'retention.save-periods': 'Guardar períodos',
  'retention.deleted-days': 'Días durante los que se pueden restaurar los mensajes eliminados',
  'retention.deleted-hint': 'Con un número menor, los más antiguos se eliminan definitivamente en minutos.',
  'retention.trash-days': 'Días en la papelera',
  'retention.junk-days': 'Días en «Correo no deseado»',
  'retention.empty-never': 'Vacío: nunca.',

  'retention.rules': 'Reglas de carpetas',
  'retention.rules-about':
    'Una regla vacía una carpeta en cada buzón de esta organización. Una segunda regla para una carpeta reemplaza a la primera.',
  'retention.folder-hint': 'Nombre completo, como Lists/Alerts.',
  'retention.folder-days': 'Días en la carpeta',
  'retention.save-rule': 'Guardar regla',
  'retention.bad-days': 'Escriba un número de días entre 1 y 36.500.',

  'hold.title': 'Retenciones legales',
  'hold.about':
    'El correo de un buzón en retención legal nunca se elimina definitivamente, ni siquiera después de eliminar el buzón.',
  'hold.none': 'No hay retenciones legales',
  'hold.none-text': 'Aquí aparecen los buzones en retención legal.',
  'hold.placed': 'Desde',
  'hold.place': 'Poner en retención legal',
  'hold.address': 'Dirección del buzón',
  'hold.reason-hint': 'Por ejemplo, el número de expediente. Queda en el registro de auditoría.',
  'hold.lift': 'Levantar',
  'hold.lift-question': 'El correo de {name} cuyo plazo ha vencido se elimina definitivamente en minutos.',
  'hold.lift-button': 'Levantar retención',
} satisfies Partial<PortalCatalog>;
