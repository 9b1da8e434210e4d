import type { BodyOf } from '@hindcast/contracts';

/** Why a hinted turn has no teacher log-probs. */
export type RefusalReason = Extract<BodyOf<'turnScored'>['teacher'], { ok: false }>['reason'];

/** No teacher for this turn: another try gives the same answer. The message never holds text of prompts or answers. */
export class TeacherRefusal extends Error {
  override readonly name = 'TeacherRefusal';
  constructor(
    readonly reason: RefusalReason,
    message: string,
  ) {
    super(message);
  }
}
