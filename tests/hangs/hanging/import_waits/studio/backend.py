from studio import settings
