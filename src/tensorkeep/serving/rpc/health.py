class Health:
    def set_serving(self, x): print("health", x)
