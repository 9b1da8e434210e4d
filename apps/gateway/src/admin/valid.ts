import { BadRequestException } from '@nestjs/common';
import { openAiError } from '@hindcast/platform';
import type { Read } from '../core/admin/parameters';

/** @throws BadRequestException that says what is wrong with the request */
export function valid<T>(read: Read<T>): T {
  if (read.ok) return read.value;
  const { message, param } = read.fault;
  throw new BadRequestException(openAiError(400, 'invalid-request', message, param));
}
