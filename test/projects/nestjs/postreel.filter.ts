import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Response } from 'express';
import { PostreelError } from 'postreel';

/** The error's own `status` is about your key and your request, not about the visitor's. */
@Catch(PostreelError)
export class PostreelFilter implements ExceptionFilter<PostreelError> {
  readonly #logger = new Logger(PostreelFilter.name);

  catch(error: PostreelError, host: ArgumentsHost): void {
    this.#logger.error(error);
    const response = host.switchToHttp().getResponse<Response>();
    response.status(502).json({ mayBeSent: error.outcome === 'unknown' });
  }
}
